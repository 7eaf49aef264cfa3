import { linkSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { GrowingTree, TILE_WIDTH, type TileAddress, tilePath } from "@narthex/kernel/merkle";

/** So many leaves are different, then they come again. */
const PERIOD = TILE_WIDTH * TILE_WIDTH;
const HASH_BYTES = 32;

/**
 * Writes the tiles of a tree whose leaves repeat every 65,536: only those of the first ones are computed, most files are
 * links to them. So a tree of ten million leaves is there in seconds, and is right in every tile.
 */
export function makeSyntheticTiles(directory: string, size: number): void {
  const rows = repeatingRows();
  const written = new Map<string, string>();
  for (let level = 0, count = size; count > 0; level++, count = Math.floor(count / TILE_WIDTH)) {
    const row = rows[level] ?? Buffer.alloc(0);
    for (let index = 0; index * TILE_WIDTH < count; index++) {
      const width = Math.min(TILE_WIDTH, count - index * TILE_WIDTH);
      const first = (index * TILE_WIDTH * HASH_BYTES) % row.length;
      const path = pathOf(directory, { level, index, width });
      const name = `${level} ${first} ${width}`;
      const same = written.get(name);
      if (same === undefined) writeFileSync(path, row.subarray(first, first + width * HASH_BYTES));
      else linkSync(same, path);
      written.set(name, same ?? path);
    }
  }
}

/** The data of a leaf. */
export function leafData(index: number): Uint8Array {
  const data = Buffer.alloc(HASH_BYTES);
  data.writeUInt32BE(index % PERIOD);
  return data;
}

/** The hashes of each level, until they come again: 65,536 leaves, 256 tiles of them, and one for all of these. */
function repeatingRows(): Buffer[] {
  const leaves: Uint8Array[] = [];
  const above: Uint8Array[] = [];
  const tree = new GrowingTree(({ level, hashes }) => void (level === 0 ? leaves : above).push(hashes));
  for (let index = 0; index < PERIOD; index++) tree.add(leafData(index));
  const root = tree.root();
  return [Buffer.concat(leaves), Buffer.concat(above), Buffer.concat(Array.from({ length: TILE_WIDTH }, () => root))];
}

function pathOf(directory: string, place: TileAddress): string {
  const path = join(directory, "tile", tilePath(place));
  mkdirSync(dirname(path), { recursive: true });
  return path;
}
