import { isJsonObject, type JsonObject, JsonSyntaxError, type JsonValue, parseJson } from "@narthex/contracts";
import { withIdleTimeout } from "../service/body-source.ts";
import type { NodeRequest } from "../service/http-listener.ts";
import { HttpRefusal, INVALID_REQUEST, PARSE_ERROR } from "./http-refusal.ts";
import type { McpHttpLimits } from "./mcp-http-limits.ts";

const JSON_TYPE = /^application\/json(?:; ?charset=utf-?8)?$/i;
/** How much of a refused body is passed to the ledger. */
const REFUSED_BYTES = 4096;

export interface ReadMessageOptions extends Pick<McpHttpLimits, "maxBodyBytes" | "bodyIdleTimeoutMs"> {
  /** Counts the bytes before they are stored; false if there is no room for them. */
  take(bytes: number): boolean;
}

/**
 * Reads the one message of a request strictly: a duplicate key, a number that would lose precision or excessive nesting
 * is an error instead of one of several interpretations.
 */
export async function readMessage(request: NodeRequest, options: ReadMessageOptions): Promise<JsonObject> {
  if (!JSON_TYPE.test(request.headers["content-type"] ?? "")) {
    throw new HttpRefusal(415, "bad_type", "send application/json");
  }
  return parseMessage(await readBody(request, options));
}

async function readBody(
  request: NodeRequest,
  { maxBodyBytes, bodyIdleTimeoutMs, take }: ReadMessageOptions,
): Promise<Uint8Array> {
  if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of withIdleTimeout(request, bodyIdleTimeoutMs)) {
      size += chunk.length;
      if (size > maxBodyBytes) throw tooLarge(maxBodyBytes);
      if (!take(chunk.length)) throw new HttpRefusal(503, "", "too much is in flight; try again soon");
      chunks.push(Buffer.from(chunk));
    }
  } catch (fault) {
    if (fault instanceof HttpRefusal) throw fault;
    throw new HttpRefusal(408, "stalled", "the request was not sent in time; send it in one go");
  }
  return Buffer.concat(chunks);
}

function tooLarge(maxBodyBytes: number): HttpRefusal {
  return new HttpRefusal(413, "too_large", `send at most ${maxBodyBytes} bytes`);
}

function parseMessage(bytes: Uint8Array): JsonObject {
  let value: JsonValue;
  const shown = bytes.subarray(0, REFUSED_BYTES);
  try {
    value = parseJson(bytes);
  } catch (error) {
    const message = error instanceof JsonSyntaxError ? error.message : "the body is not JSON";
    throw new HttpRefusal(400, "invalid_json", message, { code: PARSE_ERROR, bytes: shown });
  }
  if (isJsonObject(value)) return value;
  throw new HttpRefusal(400, "malformed", "send one JSON-RPC message", { code: INVALID_REQUEST, bytes: shown });
}
