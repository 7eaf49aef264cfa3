import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { type VerifierKey, createVerifierKey } from "../../merkle/verifier-key.ts";
import { checkpointText } from "../../merkle/checkpoint-note.ts";
import { encodeNote } from "../../merkle/signed-note.ts";
import { naiveRoot } from "../../merkle/testing/naive-tree.ts";
import type { Store } from "../../ports.ts";
import type { BundledTree } from "../bundled-tree.ts";

const ORIGIN = "narthex/log_aaaaaaaaaaaaaaaaaaaa";

export interface TestKey extends VerifierKey {
  readonly privateKey: KeyObject;
}

export function createTestKey(): TestKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  return { ...createVerifierKey(ORIGIN, raw), privateKey };
}

/** Creates the announcements of keys, in which each key hands over to the next. */
export function announce(keys: readonly TestKey[]): string[] {
  return keys.map((key, number) => {
    const before = keys[number - 1];
    const text = `narthex/log-key/v1\n${before?.text ?? "none"}\n${key.text}\n0\n`;
    return note(text, before === undefined ? [key] : [before, key]);
  });
}

export function note(text: string, keys: readonly TestKey[]): string {
  const signatures = keys.map(({ name, id, privateKey }) => ({
    name,
    keyId: id,
    signature: sign(null, Buffer.from(text), privateKey),
  }));
  return encodeNote({ text, signatures });
}

/** Creates a Merkle tree over the first records of a store, signed with the last of the keys. */
export async function createTestTree(store: Store, treeSize: number, keys: readonly TestKey[]): Promise<BundledTree> {
  const leaves = (await store.readRecords({ limit: treeSize })).map(({ hash }) => hash);
  const signer = keys.at(-1);
  if (signer === undefined) throw new Error("somebody must sign");
  const root = naiveRoot(leaves);
  return {
    treeSize,
    keys: announce(keys),
    checkpoint: note(checkpointText({ origin: ORIGIN, size: treeSize, root }), [signer]),
    rangeHash: ({ start, end }) => Promise.resolve(naiveRoot(leaves.slice(start, end))),
  };
}
