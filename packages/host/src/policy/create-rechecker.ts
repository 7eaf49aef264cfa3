import { blake3, equalBytes, isJsonObject, type JsonValue, KernelError, parseJson, toHex } from "@narthex/contracts";
import {
  decodeProof,
  type PreparedRecheck,
  prepareRecheck,
  type ProvenRequest,
  type ReadContent,
  readPolicySchema,
  type RecheckedDecision,
  recomputeProof,
} from "@narthex/kernel";
import { engineFor } from "./assemble-policy.ts";
import { loadCachedSet } from "./policy-set-cache.ts";
import { readStoredFiles } from "./recheck-stored.ts";

/** Maximum number of prepared rule sets that are cached; a session usually has one. */
const MAX_PREPARED = 8;

/** Creates a function that recomputes decisions, each with the rules and the schema that its proof names. */
export function createRechecker(): (decision: ProvenRequest, read: ReadContent) => Promise<RecheckedDecision> {
  const ready = new Map<string, PreparedRecheck>();
  return async (decision, read) => {
    const { policyHash, schemaHash } = decodeProof(decision.proof);
    const key = `${toHex(policyHash)} ${toHex(schemaHash)}`;
    let prepared = ready.get(key);
    if (prepared === undefined) {
      const [policySet, schema] = [await readExactly(policyHash, read), await readExactly(schemaHash, read)];
      if (policySet === undefined) return { kind: "gone", digest: policyHash };
      if (schema === undefined) return { kind: "gone", digest: schemaHash };
      prepared = await prepare(policySet, schema);
      ready.set(key, prepared);
      const [oldest] = ready.keys();
      if (ready.size > MAX_PREPARED && oldest !== undefined) ready.delete(oldest);
    }
    return { kind: "made", ...recomputeProof(decision, prepared) };
  };
}

async function prepare(policySet: Uint8Array, schema: Uint8Array): Promise<PreparedRecheck> {
  const known = readPolicySchema(parseStored(schema));
  const loaded = await loadCachedSet(readStoredFiles(policySet), known, {});
  const { engine } = await engineFor(loaded, known);
  const { rules, policies } = loaded;
  return prepareRecheck({ rules, policies, schema: known, engine }, { policySet, schema });
}

function parseStored(schema: Uint8Array): JsonValue {
  const json = parseJson(schema);
  if (!isJsonObject(json)) throw new KernelError("INVALID_INPUT", "the stored schema is no object");
  return json;
}

/** SECURITY: a bundle may come from anywhere, so content that does not match the digest is rejected. */
async function readExactly(digest: Uint8Array, read: ReadContent): Promise<Uint8Array | undefined> {
  const bytes = await read(digest);
  return bytes !== undefined && equalBytes(blake3(bytes), digest) ? bytes : undefined;
}
