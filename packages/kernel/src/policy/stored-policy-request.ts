import {
  isJsonObject,
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
  KernelError,
  parseJson,
} from "@narthex/contracts";
import { ownField } from "../capability/json-reader.ts";
import type { StoredCallFacts, StoredTemplate } from "./request-facts.ts";

/** A policy request as stored. SPEC: docs/formats/policy.md. */
export interface StoredPolicyRequest {
  readonly call: StoredCallFacts;
  readonly form: StoredTemplate;
}

/** Parses a stored policy request. Throws INVALID_INPUT if the bytes are not one. */
export function readStoredPolicyRequest(bytes: Uint8Array): StoredPolicyRequest {
  const json = parseStoredJson(bytes, "request");
  const call = isJsonObject(json) ? ownField(json, "call") : undefined;
  const form = isJsonObject(json) ? ownField(json, "form") : undefined;
  if (!isJsonObject(call) || !isJsonObject(form) || !isTemplate(form) || typeof call["input_digest"] !== "string") {
    throw new KernelError("INVALID_INPUT", "this is not a request as Narthex stores it");
  }
  return { call: call as unknown as StoredCallFacts, form };
}

const TEMPLATE_TEXTS = ["action", "agent", "session", "tenant", "user", "workspace", "tier"] as const;

/** Checks the fields that the engine does not check itself. */
function isTemplate(form: JsonObject): form is JsonObject & StoredTemplate {
  return TEMPLATE_TEXTS.every((name) => typeof ownField(form, name) === "string");
}

export function parseStoredJson(bytes: Uint8Array, what: string): JsonValue {
  try {
    return parseJson(bytes);
  } catch (fault) {
    if (!(fault instanceof JsonSyntaxError)) throw fault;
    throw new KernelError("INVALID_INPUT", `the ${what} is not JSON: ${fault.message}`);
  }
}
