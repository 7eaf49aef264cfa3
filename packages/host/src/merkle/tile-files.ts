import { closeSync, constants, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Tile, TILE_WIDTH, type TileAddress, tilePath } from "@narthex/kernel/merkle";
import { TreeContradiction } from "./tree-contradiction.ts";
import { removeOwnTree } from "../system/remove-own-tree.ts";

/**
 * Runs in the reading thread of the store, where waiting for the disk delays nothing else; hence the synchronous calls.
 */

const HASH_BYTES = 32;

/** The tiles of a Merkle tree on disk. SPEC: docs/formats/log.md, "Files". */
export class TileFiles {
  readonly #tiles: string;
  readonly #drafts: string;
  /** Directories with names that are not durable yet. */
  readonly #touched = new Set<string>();
  readonly #full: TileAddress[] = [];

  constructor(directory: string) {
    this.#tiles = join(directory, "tile");
    this.#drafts = join(directory, "tmp");
  }

  /** Reads a tile; undefined if it does not exist. If the tile is full by now, returns the requested part of it. */
  read(place: TileAddress): Uint8Array | undefined {
    const exact = this.#readFile(place);
    if (exact !== undefined || place.width === TILE_WIDTH) return exact;
    return this.#readFile({ ...place, width: TILE_WIDTH })?.subarray(0, place.width * HASH_BYTES);
  }

  /** Writes a tile. Its bytes are durable on return, its name after `sync`. INVARIANT: a tile is never overwritten. */
  write(tile: Tile): void {
    const found = this.#readFile(tile);
    if (found === undefined) this.#writeFile(tile);
    else if (Buffer.compare(found, tile.hashes) !== 0) throw differs(tile, "says something other than the records");
    if (tile.width === TILE_WIDTH) this.#full.push(tile);
  }

  /** Makes all writes durable, and removes partial tiles that are full now. */
  sync(): void {
    for (const directory of this.#touched) syncDirectory(directory);
    this.#touched.clear();
    for (const tile of this.#full.splice(0)) {
      removeOwnTree(dirname(this.#pathOf({ ...tile, width: 1 })));
    }
  }

  /** Removes drafts of a kernel that was killed while it wrote. */
  removeDrafts(): void {
    removeOwnTree(this.#drafts);
  }

  #pathOf(place: TileAddress): string {
    return join(this.#tiles, tilePath(place));
  }

  #readFile(place: TileAddress): Uint8Array | undefined {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.#pathOf(place));
    } catch (fault) {
      if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return undefined;
      throw fault;
    }
    if (bytes.length !== place.width * HASH_BYTES) throw differs(place, `has ${bytes.length} bytes`);
    return bytes;
  }

  #writeFile(tile: Tile): void {
    const path = this.#pathOf(tile);
    const draft = join(this.#drafts, tilePath(tile).replaceAll("/", "_"));
    this.#makeDirectory(this.#drafts);
    this.#makeDirectory(dirname(path));
    const file = openSync(
      draft,
      constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
      0o600,
    );
    try {
      for (let done = 0; done < tile.hashes.length; ) done += writeSync(file, tile.hashes, done);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
    this.#touched.add(dirname(path));
  }

  #makeDirectory(path: string): void {
    const first = mkdirSync(path, { recursive: true, mode: 0o700 });
    // Each new directory is a new name in its parent.
    for (let made = path; first !== undefined && made.startsWith(first); made = dirname(made)) {
      this.#touched.add(dirname(made));
    }
  }
}

function differs(place: TileAddress, how: string): TreeContradiction {
  return new TreeContradiction(`the tile \`log/tile/${tilePath(place)}\` ${how}`);
}

function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
