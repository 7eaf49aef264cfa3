import {
  blake3,
  type ContentItem,
  ContentRole,
  equalBytes,
  fromBinary,
  fromHex,
  HASH_SIZE,
  isJsonObject,
  ProofSchema,
  parseJson,
  toHex,
} from "@narthex/contracts";
import type { StoredDecision } from "@narthex/kernel";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { CommandError } from "../terminal/command-error.ts";
import { decodeRecord } from "./record-view.ts";

/** Maximum number of records searched for those of a call, which has one before it runs and one after. */
const MAX_RECORDS = 1000;

/** Returns every decision of a call, in the order in which they were made. */
export async function readCallDecisions(
  kernel: KernelConnection,
  sessionId: string,
  requestId: string,
): Promise<StoredDecision[]> {
  const newest = decodeRecord(await kernel.getRecord({ sessionId, requestId }));
  const listed = await kernel.listRecords({ fromIndex: undefined, limit: MAX_RECORDS, chain: sessionId });
  const indexes = listed
    .map(decodeRecord)
    .filter(({ record }) => record.requestId === requestId)
    .map(({ index }) => index);
  const proofs: Uint8Array[] = [];
  for (const index of [...new Set([...indexes, newest.index])].sort((left, right) => left - right)) {
    const { content } = decodeRecord(await kernel.getRecord({ index }));
    proofs.push(...proofsIn(content?.items ?? []));
  }
  return readDecisions(kernel, proofs, `${sessionId}/${requestId}`);
}

/** Returns the decision that a proof is about. */
export function readProofDecision(kernel: KernelConnection, hash: Uint8Array): Promise<StoredDecision[]> {
  return readDecisions(kernel, [hash], toHex(hash));
}

function proofsIn(items: readonly ContentItem[]): Uint8Array[] {
  return items.filter(({ role }) => role === ContentRole.PROOF).map(({ digest }) => digest);
}

async function readDecisions(
  kernel: KernelConnection,
  proofs: readonly Uint8Array[],
  subject: string,
): Promise<StoredDecision[]> {
  if (proofs.length === 0) {
    throw new CommandError("RECORD_NOT_FOUND", `no decision of policy is recorded for \`${subject.slice(0, 120)}\``, {
      next: "run `narthex ledger show` on it: a call that was refused before policy was asked has none",
    });
  }
  const decisions: StoredDecision[] = [];
  for (const hash of proofs) decisions.push(await readDecision(kernel, hash));
  return decisions;
}

async function readDecision(kernel: KernelConnection, hash: Uint8Array): Promise<StoredDecision> {
  const proof = await readContent(kernel, hash);
  const { requestHash, policyHash, schemaHash } = fromBinary(ProofSchema, proof);
  const request = await readContent(kernel, requestHash);
  return {
    proof,
    request,
    input: await readContent(kernel, readInputDigest(request)),
    policySet: await readContent(kernel, policyHash),
    schema: await readContent(kernel, schemaHash),
  };
}

function readInputDigest(request: Uint8Array): Uint8Array {
  const json = parseJson(request);
  const call = isJsonObject(json) ? json["call"] : undefined;
  const digest = isJsonObject(call) ? call["input_digest"] : undefined;
  const hash = typeof digest === "string" ? fromHex(digest) : undefined;
  if (hash?.length === HASH_SIZE) return hash;
  throw new CommandError("INVALID_INPUT", "the stored request names no input");
}

/** Checks the hash, so that the store is not trusted with the content. */
async function readContent(kernel: KernelConnection, hash: Uint8Array): Promise<Uint8Array> {
  const { chunks } = await kernel.getContent({ token: undefined, hash, offset: 0, limit: 0 });
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const bytes = Buffer.concat(parts);
  if (equalBytes(blake3(bytes), hash)) return bytes;
  throw new CommandError("CONTENT_DAMAGED", `the content ${toHex(hash)} is not what its hash says`);
}
