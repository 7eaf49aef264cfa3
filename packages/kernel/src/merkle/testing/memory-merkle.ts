import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { MerklePublication, MerkleTree, Signer, SigningKeys, Store } from "../../ports.ts";
import type { MerklePorts } from "../open-tree.ts";
import { proveConsistency, proveInclusion } from "../tiled-proof.ts";
import { MemoryTiles } from "./memory-tiles.ts";

/** A merkle tree in memory that tests can delay and make fail. */
export interface MemoryMerkle extends MerklePorts {
  readonly notes: string[];
  readonly keyNotes: string[];
  /** While set, the tree waits for it before it grows. */
  gate: Promise<void> | undefined;
  /** A wrong root that the next call of `grow` returns. */
  forgedRoot: Uint8Array | undefined;
}

export function createMemoryMerkle(store: Store): MemoryMerkle {
  const shelf = new MemoryTiles();
  const notes: string[] = [];
  const keyNotes: string[] = [];
  const tree: MerkleTree = {
    async grow(_from, size) {
      await log.gate;
      const records = await store.readRecords({ from: shelf.tree.size, limit: size - shelf.tree.size });
      for (const { hash } of records) shelf.tree.add(hash);
      shelf.keep();
      const root = log.forgedRoot ?? shelf.tree.root();
      log.forgedRoot = undefined;
      return { size, root };
    },
    proveInclusion: async (index, size) => proveInclusion(index, size, shelf.read),
    proveConsistency: async (from, to) => proveConsistency(from, to, shelf.read),
  };
  const publication: MerklePublication = {
    readCheckpoint: async () => notes.at(-1),
    writeCheckpoint: async (note) => void notes.push(note),
    async writeKey(number, note) {
      keyNotes[number] = note;
    },
  };
  const log: MemoryMerkle = {
    tree,
    publication,
    keys: createMemoryKeys(),
    notes,
    keyNotes,
    gate: undefined,
    forgedRoot: undefined,
  };
  return log;
}

function createMemoryKeys(): SigningKeys {
  const made: Signer[] = [];
  const make = (): Signer => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const signer = { publicKey: rawKey(publicKey), sign: async (text: Uint8Array) => sign(null, text, privateKey) };
    made.push(signer);
    return signer;
  };
  return {
    async open(publicKey) {
      if (publicKey === undefined) return made.at(-1) ?? make();
      const found = made.find((signer) => Buffer.compare(signer.publicKey, publicKey) === 0);
      if (found === undefined) throw new Error("there is no such key");
      return found;
    },
    prepareNext: async () => make(),
    prepareAfterLoss: async () => make(),
  };
}

function rawKey(key: KeyObject): Uint8Array {
  return new Uint8Array(key.export({ type: "spki", format: "der" }).subarray(12));
}
