import { isJsonObject, type JsonObject, JsonSyntaxError, parseJson } from "@narthex/contracts";
import { HookProblem } from "./hook-call.ts";

/** A message about a file to be written includes its whole text. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads the one JSON object on standard input. Throws a HookProblem for anything else. */
export async function readHookMessage(input: AsyncIterable<Uint8Array>): Promise<JsonObject> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new HookProblem(`the hook's message holds more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const message = parse(Buffer.concat(chunks));
  if (!isJsonObject(message)) throw new HookProblem("the hook's message is no object");
  return message;
}

function parse(bytes: Uint8Array) {
  try {
    return parseJson(bytes);
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause;
    throw new HookProblem(`the hook's message is not JSON: ${cause.message}`, { cause });
  }
}
