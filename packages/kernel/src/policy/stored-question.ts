import {
  isJsonObject,
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
  KernelError,
  parseJson,
} from "@narthex/contracts";
import { ownField } from "../capability/json-reader.ts";
import type { StoredCallFacts, StoredForm } from "./question-facts.ts";

/** What policy was asked, as it was stored. SPEC: docs/formats/policy.md. */
export interface StoredQuestion {
  readonly call: StoredCallFacts;
  readonly form: StoredForm;
}

/** Throws INVALID_INPUT for what is none. */
export function readStoredQuestion(bytes: Uint8Array): StoredQuestion {
  const json = parseStored(bytes, "request");
  const call = isJsonObject(json) ? ownField(json, "call") : undefined;
  const form = isJsonObject(json) ? ownField(json, "form") : undefined;
  if (!isJsonObject(call) || !isJsonObject(form) || !isForm(form) || typeof call["input_digest"] !== "string") {
    throw new KernelError("INVALID_INPUT", "this is not a request as Narthex stores it");
  }
  return { call: call as unknown as StoredCallFacts, form };
}

const FORM_TEXTS = ["action", "agent", "session", "tenant", "user", "workspace", "tier"] as const;

/** What the engine does not check itself. */
function isForm(form: JsonObject): form is JsonObject & StoredForm {
  return FORM_TEXTS.every((name) => typeof ownField(form, name) === "string");
}

export function parseStored(bytes: Uint8Array, what: string): JsonValue {
  try {
    return parseJson(bytes);
  } catch (fault) {
    if (!(fault instanceof JsonSyntaxError)) throw fault;
    throw new KernelError("INVALID_INPUT", `the ${what} is not JSON: ${fault.message}`);
  }
}
