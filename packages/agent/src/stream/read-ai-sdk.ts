import type { CallDelta } from "./call-delta.ts";
import { fieldOf, jsonOf, textOf } from "./loose-fields.ts";
import { providerFault } from "./provider-fault.ts";

/** Stream parts of the AI SDK: those of a model and those of `streamText`. */
export function readAiSdk(part: unknown): CallDelta[] {
  const isForeign = fieldOf(part, "providerExecuted") === true;
  switch (fieldOf(part, "type")) {
    case "tool-input-start":
      return [{ id: textOf(part, "id"), name: textOf(part, "toolName"), isForeign }];
    case "tool-input-delta":
      return [{ id: textOf(part, "id"), text: textOf(part, "delta") }];
    case "tool-call": {
      const input = fieldOf(part, "input");
      const whole = typeof input === "string" ? input : jsonOf(input ?? {});
      return [{ id: textOf(part, "toolCallId"), name: textOf(part, "toolName"), whole, isForeign }];
    }
    case "error":
      throw providerFault(fieldOf(part, "error"));
    default:
      return [];
  }
}
