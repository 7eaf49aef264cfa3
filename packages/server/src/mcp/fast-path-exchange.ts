import type { NodeRequest } from "../service/http-listener.ts";
import type { FastPathCall } from "./fast-path-call.ts";

/** A plain call whose headers match its body, as the current revision requires. */
export interface FastPathExchange {
  readonly call: FastPathCall;
  /** Key of everything that it shares with other calls of its client. */
  readonly kind: string;
}

/** Returns undefined if the SDK must check the headers first. */
export function toFastPathExchange(
  { headers }: NodeRequest,
  call: FastPathCall | undefined,
): FastPathExchange | undefined {
  const version = headers["mcp-protocol-version"];
  if (call === undefined || typeof version !== "string") return undefined;
  if (headers["mcp-method"] !== "tools/call" || headers["mcp-name"] !== call.name) return undefined;
  return { call, kind: `${version}\n${call.meta}` };
}
