import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { GrowingTree, proveConsistency, proveInclusion, type TileAddress, type TreeHead } from "@narthex/kernel/merkle";
import { TreeContradiction } from "./tree-contradiction.ts";
import { TileFiles } from "./tile-files.ts";

/** Operations on the Merkle tree, in the thread that reads records. */
export interface TreeMethods {
  growTree(from: TreeHead | undefined, size: number): Promise<TreeResult<TreeHead>>;
  inclusionPath(index: number, size: number): Promise<TreeResult<Uint8Array[]>>;
  consistencyPath(from: number, to: number): Promise<TreeResult<Uint8Array[]>>;
}

/** A contradiction is returned as a value, so that its message reaches the caller unchanged. */
export type TreeResult<T> = { readonly value: T } | { readonly contradiction: string };

/** Records processed before the event loop gets a turn. */
const SLICE_RECORDS = 512;

/** Thrown if a tile must be rebuilt from the records. */
class MissingTile extends Error {}

export function createTreeMethods(directory: string, records: () => DatabaseSync): TreeMethods {
  const files = new TileFiles(directory);
  /** State after the last successful operation. */
  let held: { readonly tree: GrowingTree; readonly head: TreeHead } | undefined;
  let statement: ReturnType<DatabaseSync["prepare"]> | undefined;

  const read = (place: TileAddress): Uint8Array => {
    const hashes = files.read(place);
    if (hashes === undefined) throw new MissingTile();
    return hashes;
  };
  const newTree = (): GrowingTree => new GrowingTree((tile) => files.write(tile));

  async function addRecords(tree: GrowingTree, size: number): Promise<void> {
    statement ??= records().prepare("SELECT idx, hash FROM records WHERE idx >= ? AND idx < ? ORDER BY idx");
    while (tree.size < size) {
      const end = Math.min(size, tree.size + SLICE_RECORDS);
      for (const { idx, hash } of statement.iterate(tree.size, end)) {
        if (idx !== tree.size || !(hash instanceof Uint8Array) || hash.length !== 32) break;
        tree.add(hash);
      }
      if (tree.size !== end) throw new TreeContradiction(`record ${tree.size} is missing or damaged`);
      await setImmediate();
    }
  }

  /** Rebuilds the tree from all records. Existing tiles are compared, missing ones written. */
  async function rebuild(size: number): Promise<GrowingTree> {
    const tree = newTree();
    await addRecords(tree, size);
    for (const tile of tree.partialTiles()) files.write(tile);
    files.sync();
    return tree;
  }

  async function start(from: TreeHead | undefined): Promise<GrowingTree> {
    files.removeDrafts();
    return from === undefined ? newTree() : load(from);
  }

  async function load(head: TreeHead): Promise<GrowingTree> {
    let tree: GrowingTree;
    try {
      tree = GrowingTree.from(head.size, read, (tile) => files.write(tile));
    } catch (fault) {
      if (!(fault instanceof MissingTile)) throw fault;
      tree = await rebuild(head.size);
    }
    if (isSameHead({ size: tree.size, root: tree.root() }, head)) return tree;
    throw new TreeContradiction(`the tree has another root than the checkpoint of ${head.size} records`);
  }

  async function grow(from: TreeHead | undefined, size: number): Promise<TreeHead> {
    const left = held;
    held = undefined;
    const tree = left !== undefined && isSameHead(left.head, from) ? left.tree : await start(from);
    await addRecords(tree, size);
    for (const tile of tree.partialTiles()) files.write(tile);
    files.sync();
    const head = { size, root: tree.root() };
    held = { tree, head };
    return head;
  }

  async function prove(size: number, path: () => Uint8Array[]): Promise<Uint8Array[]> {
    try {
      return path();
    } catch (fault) {
      if (!(fault instanceof MissingTile)) throw fault;
      await rebuild(size);
      return path();
    }
  }

  return {
    growTree: (from, size) => toTreeResult(grow(from, size)),
    inclusionPath: (index, size) => toTreeResult(prove(size, () => proveInclusion(index, size, read))),
    consistencyPath: (from, to) => toTreeResult(prove(to, () => proveConsistency(from, to, read))),
  };
}

function isSameHead(a: TreeHead, b: TreeHead | undefined): boolean {
  return a.size === b?.size && Buffer.compare(a.root, b.root) === 0;
}

async function toTreeResult<T>(value: Promise<T>): Promise<TreeResult<T>> {
  try {
    return { value: await value };
  } catch (fault) {
    if (fault instanceof TreeContradiction) return { contradiction: fault.message };
    throw fault;
  }
}
