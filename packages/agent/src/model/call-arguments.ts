import { isJsonObject, type JsonObject } from "@narthex/contracts";
import { parseArguments } from "../correct/parse-arguments.ts";
import type { StreamedCall } from "../stream/call-delta.ts";

/**
 * The arguments of a call as they go back to its provider: providers refuse a conversation in which they are no object, so
 * what could not be read becomes an empty one. The result beside it says what was wrong.
 */
export function argumentsToSend({ arguments: text }: StreamedCall): JsonObject {
  const parsed = parseArguments(text);
  return "value" in parsed && isJsonObject(parsed.value) ? parsed.value : {};
}
