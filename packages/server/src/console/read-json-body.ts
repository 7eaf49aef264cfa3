import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import { withIdleTimeout } from "../service/body-source.ts";
import type { NodeRequest } from "../service/http-listener.ts";
import { ConsoleRefusal } from "./console-refusal.ts";

const JSON_TYPE = /^application\/json(?:; ?charset=utf-?8)?$/i;

/** Reads the one JSON object that a request carries. */
export async function readJsonBody(
  request: NodeRequest,
  { maxBodyBytes, bodyIdleTimeoutMs }: { readonly maxBodyBytes: number; readonly bodyIdleTimeoutMs: number },
): Promise<JsonObject> {
  if (!JSON_TYPE.test(request.headers["content-type"] ?? "")) throw new ConsoleRefusal(415, "bad_type", "send JSON");
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of withIdleTimeout(request, bodyIdleTimeoutMs)) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new ConsoleRefusal(413, "too_large", `send at most ${maxBodyBytes} bytes`);
    chunks.push(Buffer.from(chunk));
  }
  return parseObject(Buffer.concat(chunks));
}

/** Returns a field that must be a string of at most `maxCharacters` characters. */
export function textField(body: JsonObject, name: string, maxCharacters: number): string {
  const value = body[name];
  if (typeof value === "string" && value.length <= maxCharacters) return value;
  throw new ConsoleRefusal(400, "malformed", `\`${name}\` is a text of at most ${maxCharacters} characters`);
}

function parseObject(bytes: Uint8Array): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(bytes);
  } catch {
    throw new ConsoleRefusal(400, "malformed", "the body is not JSON");
  }
  if (!isJsonObject(value)) throw new ConsoleRefusal(400, "malformed", "the body is not a JSON object");
  return value;
}
