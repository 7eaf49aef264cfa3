import { HASH_SIZE } from "@narthex/contracts";
import type { TreeFiles } from "../ledger-source.ts";
import type { ProblemList } from "../problem-list.ts";
import { type ComputedTile, TILE_HASHES } from "./tree-edge.ts";

/** Compares the stored tiles of a Merkle tree with those computed from its records. */
export class TileCheck {
  /** Number of tiles that match the records. */
  matched = 0;
  /** Number of missing tiles. Tiles are derived, so nothing is lost with them. */
  missing = 0;
  /** The first record for which a tile has a different leaf. */
  firstMismatch: number | undefined;
  readonly #files: TreeFiles;
  readonly #problems: ProblemList;
  #waiting: ComputedTile[] = [];

  constructor(files: TreeFiles, problems: ProblemList) {
    this.#files = files;
    this.#problems = problems;
  }

  add(tile: ComputedTile): void {
    this.#waiting.push(tile);
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Reads and compares the waiting tiles. */
  async settle(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const tile of waiting) this.#compare(tile, await this.#read(tile));
  }

  async #read({ level, number, hashes }: ComputedTile): Promise<Uint8Array | undefined> {
    try {
      return await this.#files.readTile(level, number, hashes.length / HASH_SIZE);
    } catch {
      return undefined;
    }
  }

  #compare({ level, number, hashes }: ComputedTile, found: Uint8Array | undefined): void {
    if (found === undefined) {
      this.missing++;
      return;
    }
    const at = firstDifference(found, hashes);
    if (at === undefined) {
      this.matched++;
      return;
    }
    const span = TILE_HASHES ** level;
    const index = (number * TILE_HASHES + at) * span;
    if (level === 0) this.firstMismatch = Math.min(this.firstMismatch ?? index, index);
    // Caused by a leaf that was already reported.
    else if (this.firstMismatch !== undefined && this.firstMismatch >= index && this.firstMismatch < index + span)
      return;
    const what = level === 0 ? "this record" : `the ${span} records from this one on`;
    this.#problems.add("tile_contradicts", { index, chain: "" }, `a tile of the log has another hash for ${what}`);
  }
}

/** Index of the first hash that differs or is missing. */
function firstDifference(found: Uint8Array, expected: Uint8Array): number | undefined {
  const length = Math.max(found.length, expected.length);
  for (let i = 0; i < length; i++) {
    if (found[i] !== expected[i]) return Math.min(Math.floor(i / HASH_SIZE), expected.length / HASH_SIZE - 1);
  }
  return undefined;
}
