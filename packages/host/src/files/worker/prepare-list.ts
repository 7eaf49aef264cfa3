import { closeSync } from "node:fs";
import { errnoOf, FileFault } from "./file-fault.ts";
import { createGlob } from "./match-glob.ts";
import { type ScannedEntry, scanDirectory } from "./scan-directory.ts";
import { NOTHING, type Ticket } from "./ticket.ts";
import { leaveSpot, pathOf, verifyPassable, walk } from "./walk.ts";
import { encodeEntries } from "./encode-entries.ts";
import { statEntry, openDirectory, reopen, type Workspace } from "./workspace.ts";

export interface ListOptions {
  readonly path: string;
  readonly depth: number;
  readonly glob: string | null;
  readonly hidden: boolean;
  readonly limit: number;
}

/** Like `ListedEntry` of the kernel's port. */
interface Listed {
  readonly name: string;
  readonly isExact: boolean;
  readonly kind: ScannedEntry["kind"];
  readonly size: number;
}

/** Maximum number of entries examined for one listing: that of a directory with millions of entries is partial. */
const MAX_SCANNED = 200_000;
const MAX_DEPTH = 256;
const MAX_TRIES = 40;
/** Entries with longer paths could not be accessed. */
const MAX_PATH_LENGTH = 4096;
const MAX_NAME_LENGTH = 256;

/** Opens a directory for listing. */
export function prepareList(workspace: Workspace, options: ListOptions): Ticket {
  const { directory, path } = openListed(workspace, options.path);
  let listing: Listing | undefined;
  return {
    prepared: { type: "prepared", items: [{ path, state: { kind: "directory", mode: 0 } }], inline: false, held: true },
    payload: NOTHING,
    entries(from) {
      listing ??= new Listing(workspace, options).run(directory);
      return encodeEntries(listing.found, from, listing.isPartial);
    },
    close: () => closeSync(directory),
  };
}

function openListed(workspace: Workspace, wanted: string): { directory: number; path: string } {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const spot = walk(workspace, wanted, "follow");
    try {
      if (spot.missing.length > 0) throw new FileFault("FILE_NOT_FOUND");
      const { directory, name } = spot;
      const opened = name === "" ? reopen(workspace, directory) : openDirectory(workspace, directory, name);
      return { directory: opened, path: pathOf(spot) };
    } catch (fault) {
      if (errnoOf(fault) !== "ENOTDIR") throw fault;
      verifyPassable(spot.directory, spot.name);
    } finally {
      leaveSpot(spot);
    }
  }
  throw new FileFault("EXECUTION_FAILED", "unsettled");
}

/** Walks the tree in order: the names of each directory sorted by their bytes, each directory before its contents. */
class Listing {
  readonly found: Listed[] = [];
  isPartial = false;
  readonly #workspace: Workspace;
  readonly #options: ListOptions;
  readonly #fits: (path: string) => boolean;
  #scanned = 0;

  constructor(workspace: Workspace, options: ListOptions) {
    this.#workspace = workspace;
    this.#options = options;
    this.#fits = options.glob === null ? () => true : createGlob(options.glob);
  }

  run(directory: number): this {
    this.#list(directory, "", 1);
    return this;
  }

  #list(directory: number, prefix: string, level: number): void {
    const scanned = scanDirectory(directory, MAX_SCANNED - this.#scanned);
    this.#scanned += scanned.entries.length;
    this.isPartial ||= scanned.isPartial;
    for (const entry of scanned.entries) {
      if (!this.#options.hidden && entry.name.startsWith(".")) continue;
      const path = prefix + entry.name;
      if (this.#fits(path) && !this.#add(directory, entry, path)) return;
      if (entry.kind === "directory" && level < this.#options.depth && entry.isExact) {
        this.#descend(directory, entry.name, path, level);
        if (this.#isFull) return;
      }
    }
  }

  #descend(directory: number, name: string, path: string, level: number): void {
    if (level >= MAX_DEPTH || this.#scanned >= MAX_SCANNED || path.length + MAX_NAME_LENGTH >= MAX_PATH_LENGTH) {
      this.isPartial = true;
      return;
    }
    let opened: number;
    try {
      opened = openDirectory(this.#workspace, directory, name);
    } catch (fault) {
      // Removed or replaced in the meantime, not accessible, or on another file system: listed, but not entered.
      this.isPartial ||= errnoOf(fault) !== "ENOENT";
      return;
    }
    try {
      this.#list(opened, `${path}/`, level + 1);
    } catch (fault) {
      if (errnoOf(fault) !== "EACCES") throw fault;
      this.isPartial = true;
    } finally {
      closeSync(opened);
    }
  }

  get #isFull(): boolean {
    return this.isPartial && this.found.length >= this.#options.limit;
  }

  /** Returns false if there is no more room. */
  #add(directory: number, { name, isExact, kind }: ScannedEntry, path: string): boolean {
    if (this.found.length >= this.#options.limit) {
      this.isPartial = true;
      return false;
    }
    const size = kind === "file" && isExact ? Number(statEntry(directory, name)?.size ?? 0n) : 0;
    this.found.push({ name: path, isExact, kind, size });
    return true;
  }
}
