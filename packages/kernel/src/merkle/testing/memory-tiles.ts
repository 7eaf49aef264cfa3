import { GrowingTree, type Tile } from "../growing-tree.ts";
import { TILE_WIDTH, type TileAddress, tilePath } from "../tile.ts";

/** Tiles in memory. */
export class MemoryTiles {
  readonly tiles = new Map<string, Uint8Array>();
  readonly tree: GrowingTree;

  constructor(leaves: Iterable<Uint8Array> = []) {
    this.tree = new GrowingTree((tile) => this.put(tile));
    for (const leaf of leaves) this.tree.add(leaf);
    this.keep();
  }

  /** Also stores the partial tiles of the current size. */
  keep(): void {
    for (const tile of this.tree.partialTiles()) this.put(tile);
  }

  put(tile: Tile): void {
    this.tiles.set(tilePath(tile), tile.hashes);
  }

  /** Reads a tile like a reader of an older size would: of a tile that is full by now, only the requested part. */
  readonly read = (place: TileAddress): Uint8Array => {
    const found = this.tiles.get(tilePath(place)) ?? this.tiles.get(tilePath({ ...place, width: TILE_WIDTH }));
    if (found === undefined) throw new Error(`there is no tile ${tilePath(place)}`);
    return found.subarray(0, place.width * 32);
  };
}
