import { isJsonObject, JsonSyntaxError, type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import { type PolicyFile, type Recheck, readPolicySchema, recheckDecision, type StoredDecision } from "@narthex/kernel";
import { loadPolicySet } from "./load-policy-set.ts";
import { createCedarWasmEngine } from "./cedar-wasm-engine.ts";

/**
 * Recomputes a stored decision with Cedar itself, from the text of the rules and the schema that were in force then.
 */
export function recheckStored(stored: StoredDecision): Promise<Recheck> {
  return recheckDecision(stored, async () => {
    const schema = readPolicySchema(parse(stored.schema, "schema"));
    const { rules, policies } = await loadPolicySet(readStoredFiles(stored.policySet), schema);
    return { rules, policies, schema, engine: await createCedarWasmEngine({ rules }, schema, "explain") };
  });
}

export function readStoredFiles(bytes: Uint8Array): PolicyFile[] {
  const json = parse(bytes, "policy set");
  const files = Array.isArray(json) ? json : [];
  const read = files.flatMap((file) => {
    const name = isJsonObject(file) ? file["name"] : undefined;
    const text = isJsonObject(file) ? file["text"] : undefined;
    return typeof name === "string" && typeof text === "string" ? [{ name, text }] : [];
  });
  if (read.length > 0 && read.length === files.length) return read;
  throw new KernelError("INVALID_INPUT", "this is not a policy set as Narthex stores it");
}

function parse(bytes: Uint8Array, what: string): JsonValue {
  try {
    return parseJson(bytes);
  } catch (fault) {
    if (!(fault instanceof JsonSyntaxError)) throw fault;
    throw new KernelError("INVALID_INPUT", `the ${what} is not JSON: ${fault.message}`);
  }
}
