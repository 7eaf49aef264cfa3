import type { NodeRequest, NodeResponse } from "./http-listener.ts";

/** Pages for people and load balancers. Open to anyone: they only reveal whether calls are taken. */
export interface StatusPages {
  handles(method: string, path: string): boolean;
  serve(request: NodeRequest, response: NodeResponse, path: string): void;
}

const HEALTH = "/healthz";
const ROOT = "/";
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** The page `/healthz` says whether calls are taken; if there is a console, `/` redirects to it. */
export function createStatusPages(options: {
  readonly consolePath: string | undefined;
  isServing(): boolean;
}): StatusPages {
  const { consolePath } = options;
  return {
    handles: (method, path) => METHODS.has(method) && (path === HEALTH || (path === ROOT && consolePath !== undefined)),
    serve(request, response, path) {
      response.setHeader("cache-control", "no-store");
      if (path === ROOT && consolePath !== undefined) {
        response.statusCode = 303;
        response.setHeader("location", consolePath);
        response.end();
        return;
      }
      const isServing = options.isServing();
      response.statusCode = isServing ? 200 : 503;
      response.setHeader("content-type", "text/plain; charset=utf-8");
      response.end(request.method === "HEAD" ? "" : isServing ? "ok\n" : "shutting down\n");
    },
  };
}
