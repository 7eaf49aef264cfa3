import { equalBytes, hashRecord, KernelError } from "@narthex/contracts";
import { isConsistent, rootFromInclusionPath } from "./check-proof.ts";
import { findCheckpointRecord, readMerkleRow } from "./merkle-row.ts";
import type { MerkleParts } from "./open-tree.ts";
import type { ConsistencyProof, InclusionProof } from "./proof-text.ts";
import { readAnnouncedKey, readCheckpoint, type SignedCheckpoint } from "./recorded-checkpoint.ts";
import { leafHash } from "./tree-hash.ts";

type ProofParts = Pick<MerkleParts, "store" | "tree">;

/** Finds the checkpoint of a size, or the newest. Throws CHECKPOINT_NOT_FOUND. */
export async function findCheckpoint(size: number | undefined, { store }: ProofParts): Promise<SignedCheckpoint> {
  const row = await readMerkleRow(store);
  const recordIndex = size === undefined ? row?.checkpointRecord : await findCheckpointRecord(size, store);
  const [firstKey] = row?.keyRecords ?? [];
  if (recordIndex === undefined || firstKey === undefined) throw notFound(size);
  const { key } = await readAnnouncedKey(firstKey, store);
  return readCheckpoint(recordIndex, key.name, store);
}

/** Proves that a checkpoint covers a record. Throws RECORD_NOT_FOUND, RECORD_NOT_SIGNED. */
export async function proveRecord(
  index: number,
  size: number | undefined,
  parts: ProofParts,
): Promise<InclusionProof & { readonly treeSize: number }> {
  const stored = await parts.store.readRecord(index);
  if (stored === undefined) throw new KernelError("RECORD_NOT_FOUND", "the ledger has no such record");
  const checkpoint = await findCheckpoint(size, parts).catch((fault: unknown) => {
    throw size === undefined && isNotFound(fault) ? notSigned(index) : fault;
  });
  if (index >= checkpoint.size) throw notSigned(index);
  const path = await parts.tree.proveInclusion(index, checkpoint.size);
  // Verify the proof before returning it: if it fails, the stored record is not the one that was signed.
  const root = rootFromInclusionPath(leafHash(hashRecord(stored.record)), index, checkpoint.size, path);
  if (root === undefined || !equalBytes(root, checkpoint.root)) {
    throw contradicts(`record ${index} is not the one that the checkpoint of ${checkpoint.size} records covers`);
  }
  return { record: stored.record, index, path, checkpoint: checkpoint.note, treeSize: checkpoint.size };
}

/** Proves that the newer checkpoint extends the older one. */
export async function proveConsistency(
  from: number,
  to: number | undefined,
  parts: ProofParts,
): Promise<ConsistencyProof & { readonly from: number; readonly to: number }> {
  const older = await findCheckpoint(from, parts);
  const newer = await findCheckpoint(to, parts);
  if (older.size > newer.size) {
    throw new KernelError(
      "INVALID_INPUT",
      `the checkpoint of ${older.size} records is newer than that of ${newer.size}`,
    );
  }
  const path = await parts.tree.proveConsistency(older.size, newer.size);
  const question = { from: older.size, fromRoot: older.root, to: newer.size, toRoot: newer.root, path };
  if (!isConsistent(question)) {
    throw contradicts(`the checkpoint of ${newer.size} records does not extend that of ${older.size}`);
  }
  return { path, older: older.note, newer: newer.note, from: older.size, to: newer.size };
}

function isNotFound(fault: unknown): boolean {
  return fault instanceof KernelError && fault.code === "CHECKPOINT_NOT_FOUND";
}

function notFound(size: number | undefined): KernelError {
  const which = size === undefined ? "was signed yet" : `of ${size} records was signed`;
  return new KernelError("CHECKPOINT_NOT_FOUND", `no checkpoint ${which}; see \`narthex ledger checkpoint\``);
}

function notSigned(index: number): KernelError {
  return new KernelError(
    "RECORD_NOT_SIGNED",
    `no checkpoint covers record ${index} yet; sign one with \`narthex ledger checkpoint\``,
  );
}

function contradicts(what: string): KernelError {
  return new KernelError("LOG_CONTRADICTS", `${what}; run \`narthex ledger verify\``);
}
