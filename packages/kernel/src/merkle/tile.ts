/** SPEC: docs/formats/log.md, "Tiles". How the hashes of a tree are stored in tiles. */

import type { WholeSubtree } from "./tree-shape.ts";

export const TILE_HEIGHT = 8;
export const TILE_WIDTH = 256;

export interface TileAddress {
  readonly level: number;
  readonly index: number;
  /** Number of hashes; fewer than 256 in a partial tile. */
  readonly width: number;
}

/** Path of a tile, relative to the `tile` directory. */
export function tilePath({ level, index, width }: TileAddress): string {
  const path = `${level}/${indexPath(index)}`;
  return width === TILE_WIDTH ? path : `${path}.p/${width}`;
}

/** Encodes 1234067 as `x001/x234/067`. */
function indexPath(index: number): string {
  const groups: string[] = [];
  for (let rest = index, isLast = true; isLast || rest > 0; rest = Math.floor(rest / 1000), isLast = false) {
    groups.unshift(`${isLast ? "" : "x"}${String(rest % 1000).padStart(3, "0")}`);
  }
  return groups.join("/");
}

/** The partial tiles at the right edge of a tree, from the lowest level up, without empty ones. */
export function edgeTiles(size: number): TileAddress[] {
  const tiles: TileAddress[] = [];
  for (let level = 0, count = size; count > 0; level++, count = Math.floor(count / TILE_WIDTH)) {
    const width = count % TILE_WIDTH;
    if (width > 0) tiles.push({ level, index: Math.floor(count / TILE_WIDTH), width });
  }
  return tiles;
}

/** Finds the tile that holds a subtree of a tree of this size: `count` hashes, starting at `first`. */
export function locateSubtree(
  { height, index }: WholeSubtree,
  size: number,
): { readonly tile: TileAddress; readonly first: number; readonly count: number } {
  const level = Math.floor(height / TILE_HEIGHT);
  const count = 2 ** (height % TILE_HEIGHT);
  const start = index * count;
  const tileIndex = Math.floor(start / TILE_WIDTH);
  const inLevel = Math.floor(size / TILE_WIDTH ** level);
  const width = Math.min(TILE_WIDTH, inLevel - tileIndex * TILE_WIDTH);
  const first = start - tileIndex * TILE_WIDTH;
  if (first + count > width) throw new RangeError(`a tree of ${size} leaves has no such subtree`);
  return { tile: { level, index: tileIndex, width }, first, count };
}
