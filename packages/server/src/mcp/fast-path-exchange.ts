import type { NodeRequest } from "../service/http-listener.ts";
import type { FastPathCall } from "./fast-path-call.ts";

/** A plain call whose headers say the same as its body, as the current revision has it. */
export interface FastPathExchange {
  readonly call: FastPathCall;
  /** What it has in common with others of its client. */
  readonly kind: string;
}

/** Undefined where the SDK must look at the headers first. */
export function toFastPathExchange(
  { headers }: NodeRequest,
  call: FastPathCall | undefined,
): FastPathExchange | undefined {
  const version = headers["mcp-protocol-version"];
  if (call === undefined || typeof version !== "string") return undefined;
  if (headers["mcp-method"] !== "tools/call" || headers["mcp-name"] !== call.name) return undefined;
  return { call, kind: `${version}\n${call.meta}` };
}
