import { type LoopbackServer, startLoopbackServer } from "./loopback-server.ts";
import { searxngResponse } from "./searxng-response.ts";

/** How the next responses fail, instead of having results. */
export type SearxngMood = "well" | "limited" | "no_json" | "engines_down" | "not_json" | "wrong_shape";

export interface SearxngServer extends LoopbackServer {
  mood: SearxngMood;
}

/** Imitates a SearXNG instance at `/search`. */
export async function startSearxngServer(): Promise<SearxngServer> {
  const state: { mood: SearxngMood } = { mood: "well" };
  const server = await startLoopbackServer(({ method, path }, response) => {
    const url = new URL(path, "http://searxng.test");
    const query = url.searchParams.get("q") ?? "";
    const html = (status: number, text: string): void => {
      response
        .writeHead(status, { "content-type": "text/html; charset=utf-8" })
        .end(`<!doctype html><title>${text}</title>`);
    };
    const json = (value: unknown): void => {
      response.writeHead(200, { "content-type": "application/json", server: "granian" }).end(JSON.stringify(value));
    };
    if (method !== "GET" || url.pathname !== "/search") return html(404, "Page not found");
    if (state.mood === "limited") {
      response.writeHead(429, { "content-type": "text/plain", "retry-after": "7" }).end("Too Many Requests");
      return;
    }
    // The response of an instance without `json` in `search.formats`.
    if (state.mood === "no_json" || url.searchParams.get("format") !== "json") return html(403, "Forbidden");
    if (state.mood === "not_json") return html(200, "SearXNG");
    if (state.mood === "wrong_shape") return json({ query, results: { "0": "none" } });
    json(searxngResponse(query, state.mood === "engines_down"));
  });
  return Object.assign(state, server);
}
