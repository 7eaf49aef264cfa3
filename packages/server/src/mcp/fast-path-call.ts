import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";

/** A tool call in a message that contains nothing else. */
export interface FastPathCall {
  readonly id: string | number;
  readonly name: string;
  readonly input: JsonObject;
  /** The message's metadata about its client and itself, as JSON; empty if none exists. */
  readonly meta: string;
}

const PARAMETERS: ReadonlySet<string> = new Set(["name", "arguments", "_meta"]);
const MESSAGE_KEYS = 4;
/** Metadata that differs from call to call. */
const OWN_META = ["progressToken", "traceparent"] as const;

/** Returns undefined for any other message, and for a call with further parameters. */
export function parseFastPathCall(message: JsonValue): FastPathCall | undefined {
  if (!isJsonObject(message) || message["method"] !== "tools/call" || message["jsonrpc"] !== "2.0") return undefined;
  const { id, params } = message;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;
  if (!isJsonObject(params) || Object.keys(message).length !== MESSAGE_KEYS) return undefined;
  for (const key of Object.keys(params)) if (!PARAMETERS.has(key)) return undefined;
  const { name, arguments: input = {}, _meta: meta } = params;
  if (typeof name !== "string" || !isJsonObject(input)) return undefined;
  if (isJsonObject(meta) && OWN_META.some((key) => key in meta)) return undefined;
  return { id: id as string | number, name, input, meta: meta === undefined ? "" : JSON.stringify(meta) };
}
