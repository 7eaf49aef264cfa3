import { HASH_SIZE, sha256 } from "@narthex/contracts";
import { hashLeaves, nodeHash, perfectRoot } from "../hash/tree-hashes.ts";

/** Number of hashes in a full tile. */
export const TILE_HASHES = 256;

/** A tile as computed from the records. */
export interface ComputedTile {
  readonly level: number;
  readonly number: number;
  readonly hashes: Uint8Array;
}

/** The hashes of a level that are not in a full tile. */
export interface UnfinishedTile {
  /** Number of full tiles before it. */
  readonly number: number;
  readonly hashes: Uint8Array<ArrayBuffer>;
}

interface Row {
  /** The hashes of its unfinished tile. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  count: number;
  /** Number of tiles before that one. */
  tiles: number;
}

/** SPEC: docs/formats/log.md, "The tree". The right edge of the tree, which is all that is needed to append records. */
export class TreeEdge {
  #size = 0;
  /**
   * How many hashes of the lowest row are leaf hashes already. The others are still record hashes, because hashing many
   * at once is faster.
   */
  #leaves = 0;
  readonly #rows: Row[] = [];
  readonly #onTile: (tile: ComputedTile) => void;

  /** `onTile` receives every tile that is full, lower levels first. */
  constructor(onTile: (tile: ComputedTile) => void) {
    this.#onTile = onTile;
  }

  /** Restores the unfinished tiles; false if no tree has them. Must be called on an empty edge. */
  restore(tiles: readonly UnfinishedTile[]): boolean {
    const size = (tiles[0]?.number ?? 0) * TILE_HASHES + (tiles[0]?.hashes.length ?? 0) / HASH_SIZE;
    let due = size;
    for (const { number, hashes } of tiles) {
      const count = hashes.length / HASH_SIZE;
      if (due === 0 || number !== Math.floor(due / TILE_HASHES) || count !== due % TILE_HASHES) return false;
      const row = { hashes: new Uint8Array(TILE_HASHES * HASH_SIZE), count, tiles: number };
      row.hashes.set(hashes);
      this.#rows.push(row);
      due = number;
    }
    this.#size = size;
    this.#leaves = size % TILE_HASHES;
    return due === 0;
  }

  get size(): number {
    return this.#size;
  }

  add(recordHash: Uint8Array): void {
    this.#size++;
    this.#push(0, recordHash);
  }

  /** The root of the present tree; for an empty tree, the hash of no bytes. */
  root(): Uint8Array {
    this.#hashRecords();
    let root: Uint8Array | undefined;
    for (const row of this.#rows) {
      // The lowest row ends furthest to the right: the hashes above are to its left.
      for (let from = row.count; from > 0; ) {
        const width = from & -from;
        from -= width;
        const part = perfectRoot(row.hashes.slice(from * HASH_SIZE, (from + width) * HASH_SIZE));
        root = root === undefined ? part : nodeHash(part, root);
      }
    }
    return root ?? sha256(new Uint8Array(0));
  }

  /** The tiles that are not full. */
  partialTiles(): ComputedTile[] {
    this.#hashRecords();
    return this.#rows.flatMap(({ hashes, count, tiles }, level) =>
      count === 0 ? [] : [{ level, number: tiles, hashes: hashes.slice(0, count * HASH_SIZE) }],
    );
  }

  /** The unfinished tile of every level, as `restore` takes them. */
  unfinishedTiles(): UnfinishedTile[] {
    this.#hashRecords();
    return this.#rows.map(({ hashes, count, tiles }) => ({
      number: tiles,
      hashes: hashes.slice(0, count * HASH_SIZE),
    }));
  }

  #push(level: number, hash: Uint8Array): void {
    const row = (this.#rows[level] ??= { hashes: new Uint8Array(TILE_HASHES * HASH_SIZE), count: 0, tiles: 0 });
    row.hashes.set(hash, row.count * HASH_SIZE);
    row.count++;
    if (row.count < TILE_HASHES) return;
    if (level === 0) this.#hashRecords();
    this.#onTile({ level, number: row.tiles, hashes: row.hashes.slice() });
    row.count = 0;
    row.tiles++;
    if (level === 0) this.#leaves = 0;
    this.#push(level + 1, perfectRoot(row.hashes.slice()));
  }

  #hashRecords(): void {
    const [lowest] = this.#rows;
    if (lowest === undefined) return;
    hashLeaves(lowest.hashes.subarray(this.#leaves * HASH_SIZE, lowest.count * HASH_SIZE));
    this.#leaves = lowest.count;
  }
}
