import type { Authorize } from "../service/token-scope.ts";
import type { NodeRequest, NodeResponse } from "../service/http-listener.ts";
import type { ConsoleKernel } from "./console-kernel.ts";

export interface ConsoleLinkOptions {
  readonly kernel: Pick<ConsoleKernel, "refuse">;
  readonly authorize: Authorize;
  /** Creates a fresh link; undefined if the page is not served. */
  createLink(): string | undefined;
}

const BEARER = /^bearer ([\x21-\x7e]{1,512})$/i;

/**
 * Sends an administrator a link that signs in its user. Only on the unix socket, where every client can read the home.
 */
export async function serveConsoleLink(
  request: NodeRequest,
  response: NodeResponse,
  { kernel, authorize, createLink }: ConsoleLinkOptions,
): Promise<void> {
  request.resume();
  const token = BEARER.exec(request.headers.authorization ?? "")?.[1] ?? "";
  const granted = token === "" ? undefined : await authorize(token);
  if (granted?.scope !== "admin") {
    kernel.refuse({ door: "console", reason: granted === undefined ? "TOKEN_INVALID" : "scope" });
    const message = "this token may not open the console; use the administrator's";
    return send(response, 403, { code: "permission_denied", message });
  }
  const link = createLink();
  if (link === undefined) {
    return send(response, 404, {
      code: "unavailable",
      message: "this kernel serves no page; start it with `narthex serve`",
    });
  }
  send(response, 200, { link });
}

function send(response: NodeResponse, status: number, value: object): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json; charset=utf-8");
  response.setHeader("cache-control", "no-store");
  response.end(JSON.stringify(value));
}
