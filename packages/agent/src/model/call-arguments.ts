import { isJsonObject, type JsonObject } from "@narthex/contracts";
import { parseArguments } from "../correct/parse-arguments.ts";
import type { StreamedCall } from "../stream/call-delta.ts";

/**
 * The arguments of a call as they are sent back to its provider. Providers refuse a conversation whose arguments are
 * not objects, so invalid arguments become an empty object. The result beside it says what was wrong.
 */
export function argumentsToSend({ arguments: text }: StreamedCall): JsonObject {
  const parsed = parseArguments(text);
  return "value" in parsed && isJsonObject(parsed.value) ? parsed.value : {};
}
