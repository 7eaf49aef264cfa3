import {
  type CheckpointSigned,
  type Entry,
  fromBinary,
  fromHex,
  KernelError,
  type LogKeyAnnounced,
  RecordSchema,
} from "@narthex/contracts";
import type { Store } from "../ports.ts";
import { checkpointText, type TreeHead } from "./checkpoint-note.ts";
import { keyAnnouncementText } from "./key-announcement-text.ts";
import { encodeNote, type NoteSignature } from "./signed-note.ts";
import { parseVerifierKey, type VerifierKey } from "./verifier-key.ts";

/** A signed checkpoint with the record that holds it. */
export interface SignedCheckpoint extends TreeHead {
  readonly recordIndex: number;
  /** 8 hex digits. */
  readonly keyId: string;
  /** The signed note. */
  readonly note: string;
}

export interface AnnouncedKey {
  readonly key: VerifierKey;
  readonly recordIndex: number;
  /** The signed note. */
  readonly note: string;
}

export async function readCheckpoint(recordIndex: number, origin: string, store: Store): Promise<SignedCheckpoint> {
  const { treeSize, rootHash, keyId, signature } = await readEntry(recordIndex, "checkpointSigned", store);
  const size = Number(treeSize);
  return {
    size,
    root: rootHash,
    recordIndex,
    keyId,
    note: checkpointNote(origin, { size, root: rootHash, keyId, signature }),
  };
}

export function checkpointNote(
  origin: string,
  { size, root, keyId, signature }: TreeHead & { readonly keyId: string; readonly signature: Uint8Array },
): string {
  const signatures: NoteSignature[] = [{ name: origin, keyId: fromHex(keyId) ?? Uint8Array.of(), signature }];
  return encodeNote({ text: checkpointText({ origin, size, root }), signatures });
}

export async function readAnnouncedKey(recordIndex: number, store: Store): Promise<AnnouncedKey> {
  const announced = await readEntry(recordIndex, "logKeyAnnounced", store);
  const key = parseVerifierKey(announced.verifierKey);
  const previous = parseVerifierKey(announced.previousVerifierKey);
  if (key === undefined) throw unreadable(recordIndex);
  const { signature, previousSignature } = announced;
  const treeSize = Number(announced.treeSize);
  return { key, recordIndex, note: keyAnnouncementNote({ key, previous, treeSize, signature, previousSignature }) };
}

export interface SignedKeyRotation {
  readonly key: VerifierKey;
  readonly previous: VerifierKey | undefined;
  readonly treeSize: number;
  readonly signature: Uint8Array;
  readonly previousSignature: Uint8Array;
}

export function keyAnnouncementNote({
  key,
  previous,
  treeSize,
  signature,
  previousSignature,
}: SignedKeyRotation): string {
  const signatures: NoteSignature[] = [{ name: key.name, keyId: key.id, signature }];
  // A lost previous key has not signed the announcement.
  if (previous !== undefined && previousSignature.length > 0) {
    signatures.unshift({ name: previous.name, keyId: previous.id, signature: previousSignature });
  }
  return encodeNote({ text: keyAnnouncementText({ previous, next: key, treeSize }), signatures });
}

interface MerkleEntries {
  readonly checkpointSigned: CheckpointSigned;
  readonly logKeyAnnounced: LogKeyAnnounced;
}

async function readEntry<K extends keyof MerkleEntries>(
  index: number,
  kind: K,
  store: Store,
): Promise<MerkleEntries[K]> {
  const stored = await store.readRecord(index);
  const entries: readonly Entry[] = stored === undefined ? [] : fromBinary(RecordSchema, stored.record).entries;
  const found = entries.find(
    (entry): entry is Entry & { kind: { case: K; value: MerkleEntries[K] } } => entry.kind.case === kind,
  );
  if (found === undefined) throw unreadable(index);
  return found.kind.value;
}

function unreadable(index: number): KernelError {
  return new KernelError(
    "LOG_CONTRADICTS",
    `record ${index} is not what the log's state says; run \`narthex ledger verify\``,
  );
}
