import { HASH_SIZE, sha256 } from "@narthex/contracts";

/** Hashes that a tile holds. */
export const TILE_HASHES = 256;

/** What a tile of the log must say. */
export interface ComputedTile {
  readonly level: number;
  readonly number: number;
  readonly hashes: Uint8Array;
}

/** The hashes of a level that no full tile holds. */
export interface UnfinishedTile {
  /** Full tiles before it. */
  readonly number: number;
  readonly hashes: Uint8Array<ArrayBuffer>;
}

interface Row {
  /** The hashes of its unfinished tile. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  count: number;
  /** Tiles before that one. */
  tiles: number;
}

/** SPEC: docs/formats/log.md, "The tree". Its right edge, which is all that a reader from left to right needs. */
export class TreeEdge {
  #size = 0;
  readonly #rows: Row[] = [];
  readonly #onTile: (tile: ComputedTile) => void;

  /** Is told of every tile that is full, the lower one first. */
  constructor(onTile: (tile: ComputedTile) => void) {
    this.#onTile = onTile;
  }

  /** Goes on from unfinished tiles; false if they are not those of any tree. Of an empty edge only. */
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
    return due === 0;
  }

  get size(): number {
    return this.#size;
  }

  add(recordHash: Uint8Array): void {
    this.#size++;
    this.#push(0, leafOf(recordHash));
  }

  /** Of the tree as it is; that of an empty one is the hash of nothing. */
  root(): Uint8Array {
    let root: Uint8Array | undefined;
    for (const row of this.#rows) {
      // The lowest row ends furthest to the right: what is above stands to its left.
      for (let from = row.count; from > 0; ) {
        const width = from & -from;
        from -= width;
        const part = perfectRoot(row.hashes.slice(from * HASH_SIZE, (from + width) * HASH_SIZE));
        root = root === undefined ? part : nodeOf(part, root);
      }
    }
    return root ?? sha256(new Uint8Array(0));
  }

  /** The tiles that are not full. */
  partialTiles(): ComputedTile[] {
    return this.#rows.flatMap(({ hashes, count, tiles }, level) =>
      count === 0 ? [] : [{ level, number: tiles, hashes: hashes.slice(0, count * HASH_SIZE) }],
    );
  }

  /** Of every level, as `restore` takes them. */
  unfinishedTiles(): UnfinishedTile[] {
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
    this.#onTile({ level, number: row.tiles, hashes: row.hashes.slice() });
    row.count = 0;
    row.tiles++;
    this.#push(level + 1, perfectRoot(row.hashes.slice()));
  }
}

const leafInput = new Uint8Array(1 + HASH_SIZE);
const nodeInput = new Uint8Array(1 + 2 * HASH_SIZE).fill(1, 0, 1);

export function leafOf(recordHash: Uint8Array): Uint8Array {
  leafInput.set(recordHash, 1);
  return sha256(leafInput);
}

export function nodeOf(left: Uint8Array, right: Uint8Array): Uint8Array {
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_SIZE);
  return sha256(nodeInput);
}

/** Of a power of two of hashes, which it overwrites. */
function perfectRoot(hashes: Uint8Array): Uint8Array {
  for (let count = hashes.length / HASH_SIZE; count > 1; count /= 2) {
    for (let i = 0; i < count / 2; i++) {
      nodeInput.set(hashes.subarray(2 * i * HASH_SIZE, (2 * i + 2) * HASH_SIZE), 1);
      hashes.set(sha256(nodeInput), i * HASH_SIZE);
    }
  }
  return hashes.slice(0, HASH_SIZE);
}
