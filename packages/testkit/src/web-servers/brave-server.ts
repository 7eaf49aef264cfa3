import { braveResponse, braveError } from "./brave-response.ts";
import { type LoopbackServer, startLoopbackServer } from "./loopback-server.ts";

export type BraveMood = "well" | "limited" | "nothing_found" | "wrong_shape" | "down";

export interface BraveServer extends LoopbackServer {
  mood: BraveMood;
}

/** Imitates the Brave Search API at `/res/v1/web/search`, for requests with the key. */
export async function startBraveServer(key: string): Promise<BraveServer> {
  const state: { mood: BraveMood } = { mood: "well" };
  const server = await startLoopbackServer(({ method, path, headers }, response) => {
    const url = new URL(path, "http://brave.test");
    const query = url.searchParams.get("q") ?? "";
    const count = Number(url.searchParams.get("count") ?? "20");
    const json = (status: number, value: unknown, extra: Record<string, string> = {}): void => {
      response
        .writeHead(status, { "content-type": "application/json", ...LIMITS, ...extra })
        .end(JSON.stringify(value));
    };
    if (method !== "GET" || url.pathname !== "/res/v1/web/search") return json(404, braveError("NOT_FOUND", 404));
    if (headers["x-subscription-token"] === undefined) return json(422, braveError("VALIDATION", 422));
    if (headers["x-subscription-token"] !== key) return json(422, braveError("SUBSCRIPTION_TOKEN_INVALID", 422));
    if (query === "" || query.length > 400 || count < 1 || count > 20) return json(422, braveError("VALIDATION", 422));
    if (state.mood === "limited") return json(429, braveError("RATE_LIMITED", 429), { "retry-after": "1" });
    if (state.mood === "down") {
      response.writeHead(502, { "content-type": "text/html" }).end("<h1>502 Bad Gateway</h1>");
      return;
    }
    if (state.mood === "wrong_shape") return json(200, { type: "search", web: { results: "none" } });
    json(200, braveResponse(query, state.mood === "nothing_found" ? 0 : count));
  });
  return Object.assign(state, server);
}

const LIMITS = {
  "x-ratelimit-limit": "1, 2000",
  "x-ratelimit-policy": "1;w=1, 2000;w=2592000",
  "x-ratelimit-remaining": "0, 1983",
  "x-ratelimit-reset": "1, 1419704",
};
