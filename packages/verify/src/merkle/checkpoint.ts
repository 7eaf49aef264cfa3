import { HASH_SIZE, toHex } from "@narthex/contracts";
import { isKeyName, isSigned, type VerifierKey } from "./verifier-key.ts";
import { decodeBase64, encodeBase64 } from "./strict-base64.ts";

/** SPEC: docs/formats/log.md, "Checkpoints". A signed note with the size and root of a Merkle tree. */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  readonly signatures: readonly NoteSignature[];
}

export interface NoteSignature {
  readonly name: string;
  /** 8 hex digits. */
  readonly keyId: string;
  readonly signature: Uint8Array;
}

const MAX_CHARACTERS = 16 * 1024;
const MAX_SIGNATURES = 16;
const KEY_ID_BYTES = 4;

/** Parses a checkpoint; undefined if the note is not one. Does not check signatures. */
export function parseCheckpoint(note: string): Checkpoint | undefined {
  if (note.length > MAX_CHARACTERS || !note.isWellFormed()) return undefined;
  const lines = note.split("\n");
  const [origin = "", size = "", root = "", empty, ...rest] = lines;
  if (empty !== "" || rest.pop() !== "" || rest.length === 0 || rest.length > MAX_SIGNATURES) return undefined;
  const rootHash = decodeBase64(root);
  if (!isKeyName(origin) || !/^(0|[1-9][0-9]{0,15})$/.test(size) || rootHash?.length !== HASH_SIZE) return undefined;
  if (Number(size) > Number.MAX_SAFE_INTEGER) return undefined;
  const signatures = rest.map(parseSignature);
  if (!signatures.every((signature) => signature !== undefined)) return undefined;
  return { origin, size: Number(size), root: rootHash, signatures };
}

/** The signed text of a checkpoint. */
export function checkpointText({ origin, size, root }: Pick<Checkpoint, "origin" | "size" | "root">): string {
  return `${origin}\n${size}\n${encodeBase64(root)}\n`;
}

/** The signed note of a checkpoint with one signature. */
export function checkpointNote(text: string, { name, keyId, signature }: NoteSignature): string {
  return `${text}\n— ${name} ${encodeBase64(Buffer.concat([Buffer.from(keyId, "hex"), signature]))}\n`;
}

/** Ignores signatures of other keys. */
export function isSignedBy(checkpoint: Checkpoint, key: VerifierKey): boolean {
  if (checkpoint.origin !== key.name) return false;
  return checkpoint.signatures.some(
    ({ name, keyId, signature }) =>
      name === key.name && keyId === key.id && isSigned(key, checkpointText(checkpoint), signature),
  );
}

export function parseSignature(line: string): NoteSignature | undefined {
  const [dash, name = "", encoded = "", ...more] = line.split(" ");
  const bytes = decodeBase64(encoded);
  if (dash !== "—" || more.length > 0 || !isKeyName(name) || bytes === undefined) return undefined;
  if (bytes.length <= KEY_ID_BYTES) return undefined;
  return { name, keyId: toHex(bytes.subarray(0, KEY_ID_BYTES)), signature: bytes.subarray(KEY_ID_BYTES) };
}
