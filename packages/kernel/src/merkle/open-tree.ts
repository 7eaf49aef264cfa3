import { createId, KernelError } from "@narthex/contracts";
import type { Ledger } from "../ledger/ledger.ts";
import type { MerklePublication, Random, MerkleTree, Signer, SigningKeys, Store } from "../ports.ts";
import { parseCheckpointText } from "./checkpoint-note.ts";
import { findCheckpointRecord, type MerkleRow, readMerkleRow } from "./merkle-row.ts";
import { type AnnouncedKey, readAnnouncedKey, readCheckpoint, type SignedCheckpoint } from "./recorded-checkpoint.ts";
import { parseNote } from "./signed-note.ts";
import { createVerifierKey, type VerifierKey } from "./verifier-key.ts";

/** Ports to the tree's tiles, its signing keys and its published files. */
export interface MerklePorts {
  readonly tree: MerkleTree;
  readonly keys: SigningKeys;
  readonly publication: MerklePublication;
}

export interface MerkleParts extends MerklePorts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly random: Random;
}

/** A tree whose signing key is available. */
export interface SignableTree extends ReadableTree {
  readonly signer: Signer;
}

/** A tree that can be read, but not signed. */
export interface ReadableTree {
  readonly key: VerifierKey;
  /** Records of the key announcements; empty if no checkpoint was ever signed. */
  readonly keyRecords: readonly number[];
  readonly head: SignedCheckpoint | undefined;
}

/**
 * Opens the tree with its signing key and its newest checkpoint, and publishes what a crash kept from being published.
 */
export async function openTree(parts: MerkleParts): Promise<SignableTree> {
  const { store, keys, random } = parts;
  const row = await readMerkleRow(store);
  if (row === undefined) {
    const signer = await keys.open(undefined);
    const key = createVerifierKey(`narthex/${createId("log", (length) => random.bytes(length))}`, signer.publicKey);
    const log = { signer, key, keyRecords: [], head: undefined };
    await comparePublished(log, parts);
    return log;
  }
  const { announced, ...read } = await readTree(row, store);
  const log = { signer: await keys.open(read.key.publicKey), ...read };
  await comparePublished(log, parts);
  for (const [number, { note }] of announced.entries()) await parts.publication.writeKey(number, note, log.key.text);
  return log;
}

/**
 * Opens a tree whose signing key is lost. Throws INVALID_REQUEST if the key is available or was never announced.
 *
 * SECURITY: an available key signs for its successor, so that clients that trust it can follow; a key without that
 * signature is accepted only if the old one is lost.
 */
export async function openTreeWithLostKey(parts: MerkleParts): Promise<ReadableTree> {
  const row = await readMerkleRow(parts.store);
  if (row === undefined) throw new KernelError("INVALID_REQUEST", "no key was announced yet, so none can be lost");
  const { announced: _announced, ...log } = await readTree(row, parts.store);
  const isThere = await parts.keys.open(log.key.publicKey).then(
    () => true,
    (fault: unknown) => {
      if (fault instanceof KernelError && fault.code === "LOG_KEY_UNUSABLE") return false;
      throw fault;
    },
  );
  if (isThere) {
    const message =
      "the key that signs checkpoints is there: replace it by `narthex ledger rotate-key`, without --lost";
    throw new KernelError("INVALID_REQUEST", message);
  }
  await comparePublished(log, parts);
  return log;
}

async function readTree(
  row: MerkleRow,
  store: Store,
): Promise<ReadableTree & { readonly announced: readonly AnnouncedKey[] }> {
  const announced = await Promise.all(row.keyRecords.map((index) => readAnnouncedKey(index, store)));
  const key = announced.at(-1)?.key;
  if (key === undefined) throw new KernelError("INTERNAL", "the log has no key");
  const { checkpointRecord, keyRecords } = row;
  const head = checkpointRecord === undefined ? undefined : await readCheckpoint(checkpointRecord, key.name, store);
  return { key, keyRecords, head, announced };
}

/**
 * INVARIANT: a checkpoint is published after its record is durable. So the published one is the newest or an earlier
 * one; anything else means that the ledger or the file was restored from a copy or modified.
 */
async function comparePublished({ key, head }: ReadableTree, { publication, store }: MerkleParts): Promise<void> {
  const published = await publication.readCheckpoint();
  if (published === head?.note) return;
  if (published !== undefined) {
    const checkpoint = parseCheckpointText(parseNote(published)?.text ?? "");
    if (checkpoint === undefined) throw contradicts("`log/checkpoint` holds no checkpoint");
    if (head === undefined || checkpoint.size > head.size) throw rolledBack(checkpoint.size, head);
    const recordIndex = await findCheckpointRecord(checkpoint.size, store);
    const recorded = recordIndex === undefined ? undefined : await readCheckpoint(recordIndex, key.name, store);
    if (recorded?.note !== published)
      throw contradicts("`log/checkpoint` holds a checkpoint that the ledger does not know");
  }
  if (head !== undefined) await publication.writeCheckpoint(head.note);
}

function contradicts(what: string): KernelError {
  return new KernelError(
    "LOG_CONTRADICTS",
    `${what}; run \`narthex ledger verify\`, and look at it before it is removed`,
  );
}

function rolledBack(size: number, head: SignedCheckpoint | undefined): KernelError {
  const last = head === undefined ? "knows of no checkpoint" : `ends with the checkpoint of ${head.size}`;
  return new KernelError(
    "LEDGER_ROLLED_BACK",
    `a checkpoint of ${size} records was signed, and the ledger ${last}; put back the newest backup of the home`,
  );
}
