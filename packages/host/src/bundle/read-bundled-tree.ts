import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import {
  type BundledTree,
  joinSubtrees,
  type LeafRange,
  parseCheckpointText,
  parseNote,
  perfectRoot,
  wholeSubtrees,
} from "@narthex/kernel";
import { locateSubtree, tilePath } from "@narthex/kernel/merkle";

const HASH_BYTES = 32;

/**
 * Reads the files of a home's Merkle tree; undefined if no checkpoint is signed yet. SPEC: docs/formats/log.md,
 * "Files".
 */
export async function readBundledTree(directory: string): Promise<BundledTree | undefined> {
  const checkpoint = await readIfThere(join(directory, "checkpoint"));
  const facts = checkpoint && parseCheckpointText(parseNote(checkpoint)?.text ?? "");
  if (checkpoint === undefined || facts === undefined || facts === "") return undefined;
  const { size } = facts;
  return {
    checkpoint,
    treeSize: size,
    keys: await readKeys(join(directory, "keys")),
    rangeHash: (range) => hashOfRange(range, size, join(directory, "tile")),
  };
}

async function readKeys(directory: string): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => /^[0-9]{3,}$/.test(name));
  names.sort((one, other) => Number(one) - Number(other));
  return await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
}

/** Computes the hash from tiles: only a few have to be read, even from a large tree. */
async function hashOfRange(range: LeafRange, size: number, directory: string): Promise<Uint8Array> {
  const roots: Uint8Array[] = [];
  for (const subtree of wholeSubtrees(range)) {
    const { tile, first, count } = locateSubtree(subtree, size);
    const hashes = await readTile(tile, directory);
    if (hashes.length < (first + count) * HASH_BYTES) throw unusable();
    roots.push(perfectRoot(hashes.subarray(first * HASH_BYTES, (first + count) * HASH_BYTES)));
  }
  return joinSubtrees(roots);
}

/** A partial tile is removed once the full tile exists, which starts with the same hashes. */
async function readTile(tile: Parameters<typeof tilePath>[0], directory: string): Promise<Uint8Array> {
  try {
    return await readFile(join(directory, tilePath(tile)));
  } catch {
    return await readFile(join(directory, tilePath({ ...tile, width: 256 }))).catch((cause: unknown) => {
      throw unusable(cause);
    });
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}

function unusable(cause?: unknown): KernelError {
  return new KernelError("CONTENT_DAMAGED", "a tile of the log is missing or too short; sign a new checkpoint", {
    cause,
  });
}
