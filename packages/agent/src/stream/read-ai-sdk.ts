import type { CallDelta } from "./call-delta.ts";
import { readField, toArgumentsJson, readText } from "./to-arguments-json.ts";
import { toProviderError } from "./provider-error.ts";

/** Reads stream parts of the AI SDK: those of a model and those of `streamText`. */
export function readAiSdk(part: unknown): CallDelta[] {
  const isForeign = readField(part, "providerExecuted") === true;
  switch (readField(part, "type")) {
    case "tool-input-start":
      return [{ id: readText(part, "id"), name: readText(part, "toolName"), isForeign }];
    case "tool-input-delta":
      return [{ id: readText(part, "id"), text: readText(part, "delta") }];
    case "tool-call": {
      const input = readField(part, "input");
      const whole = typeof input === "string" ? input : toArgumentsJson(input ?? {});
      return [{ id: readText(part, "toolCallId"), name: readText(part, "toolName"), whole, isForeign }];
    }
    case "error":
      throw toProviderError(readField(part, "error"));
    default:
      return [];
  }
}
