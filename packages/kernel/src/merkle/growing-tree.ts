import { edgeTiles, TILE_HEIGHT, TILE_WIDTH, type TileAddress } from "./tile.ts";
import { HASH_BYTES, joinSubtrees, leafHash, perfectRoot } from "./tree-hash.ts";
import { wholeSubtrees } from "./tree-shape.ts";

export interface Tile extends TileAddress {
  readonly hashes: Uint8Array;
}

/** The partial tile of one level. */
interface Row {
  readonly hashes: Uint8Array;
  index: number;
  width: number;
}

/** The right edge of a tree: enough to append to a tree of any size. */
export class GrowingTree {
  readonly #rows: Row[] = [];
  readonly #onFull: (tile: Tile) => void;
  #size = 0;

  /** `onFull` is called for each tile that becomes full, a lower level before the one above it. */
  constructor(onFull: (tile: Tile) => void) {
    this.#onFull = onFull;
  }

  /** Resumes from the partial tiles of a tree of this size. */
  static from(size: number, read: (place: TileAddress) => Uint8Array, onFull: (tile: Tile) => void): GrowingTree {
    const tree = new GrowingTree(onFull);
    tree.#size = size;
    for (let full = Math.floor(size / TILE_WIDTH); full > 0; full = Math.floor(full / TILE_WIDTH)) {
      tree.#rows.push(emptyRow(full));
    }
    for (const place of edgeTiles(size)) {
      const row = tree.#row(place.level);
      const hashes = read(place);
      if (hashes.length !== place.width * HASH_BYTES) throw new RangeError("the tile has another width");
      row.hashes.set(hashes);
      row.width = place.width;
    }
    return tree;
  }

  get size(): number {
    return this.#size;
  }

  /** Appends the leaf of a record. */
  add(recordHash: Uint8Array): void {
    this.#size++;
    this.#put(0, leafHash(recordHash));
  }

  root(): Uint8Array {
    const roots = wholeSubtrees({ start: 0, end: this.#size }).map(({ height, index }) => {
      const { hashes, index: tileIndex } = this.#row(Math.floor(height / TILE_HEIGHT));
      const count = 2 ** (height % TILE_HEIGHT);
      const first = index * count - tileIndex * TILE_WIDTH;
      return perfectRoot(hashes.subarray(first * HASH_BYTES, (first + count) * HASH_BYTES));
    });
    return joinSubtrees(roots);
  }

  /** The partial tiles of the tree at its current size. */
  partialTiles(): Tile[] {
    return edgeTiles(this.#size).map((place) => ({
      ...place,
      hashes: this.#row(place.level).hashes.slice(0, place.width * HASH_BYTES),
    }));
  }

  #put(level: number, hash: Uint8Array): void {
    const row = this.#row(level);
    row.hashes.set(hash, row.width * HASH_BYTES);
    row.width++;
    if (row.width < TILE_WIDTH) return;
    const hashes = row.hashes.slice();
    this.#onFull({ level, index: row.index, width: TILE_WIDTH, hashes });
    row.index++;
    row.width = 0;
    this.#put(level + 1, perfectRoot(hashes));
  }

  #row(level: number): Row {
    return (this.#rows[level] ??= emptyRow(0));
  }
}

function emptyRow(index: number): Row {
  return { hashes: new Uint8Array(TILE_WIDTH * HASH_BYTES), index, width: 0 };
}
