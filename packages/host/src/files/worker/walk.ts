import { type BigIntStats, closeSync } from "node:fs";
import { errnoOf, FileFault } from "./file-fault.ts";
import { statEntry, openDirectory, readLink, WORKSPACE_PATH, type Workspace } from "./workspace.ts";

/** A name in a directory that is held open. */
export interface Spot {
  /** Descriptor of the directory; that of the workspace itself if `parents` is empty: see `leaveSpot`. */
  readonly directory: number;
  /** Real path of the directory, in parts. */
  readonly parents: readonly string[];
  /** Directories below `directory` that would have to be created first. */
  readonly missing: readonly string[];
  /** Empty for the directory itself. */
  readonly name: string;
  /** Stats of the entry when the walk reached it; undefined if nothing existed. */
  readonly stats: BigIntStats | undefined;
}

/** Whether a link at the end of a path is followed, or is itself the target. */
export type LastLink = "follow" | "keep";

const MAX_LINKS = 40;
const MAX_TRIES = 40;
const MAX_PARTS = 4096;
const MAX_PART_BYTES = 255;

/**
 * Walks a path from the root of the workspace, one directory at a time.
 *
 * SECURITY: other processes in the workspace can replace directories and links at any moment. Each part is opened
 * relative to the directory that is already held, never through a link; links are read, and their parts are walked in
 * the same way; `..` in a link returns to the directory that was held before, and never above the root. A path is never
 * checked first and opened later.
 */
export function walk(workspace: Workspace, path: string, lastLink: LastLink): Spot {
  const walker = new Walker(workspace, parsePath(path));
  try {
    return walker.walk(lastLink);
  } finally {
    walker.close();
  }
}

export function leaveSpot({ directory, parents }: Spot): void {
  if (parents.length > 0) closeSync(directory);
}

export function pathOf({ parents, missing, name }: Spot): string {
  return [...parents, ...missing, name].filter((part) => part !== "").join("/") || ".";
}

/** Splits a path of a caller into parts. Rejects `..` and empty parts. */
function parsePath(path: string): string[] {
  if (path === ".") return [];
  const parts = path.split("/");
  for (const part of parts) {
    if (part === "..") throw new FileFault("PATH_ESCAPE");
    if (part === "" || part === "." || part.includes("\0")) throw new FileFault("INVALID_INPUT", "name");
    if (Buffer.byteLength(part) > MAX_PART_BYTES) throw new FileFault("INVALID_INPUT", "name");
  }
  return parts;
}

/** Throws unless the name may be a directory now, although it was not one a moment ago. */
export function verifyPassable(directory: number, name: string): void {
  const stats = statEntry(directory, name);
  if (stats === undefined || stats.isDirectory() || stats.isSymbolicLink()) return;
  throw new FileFault("NOT_A_DIRECTORY");
}

class Walker {
  readonly #workspace: Workspace;
  readonly #pending: string[];
  /** Descriptors of the directories from the root to the current position, and their names. */
  readonly #held: number[];
  readonly #names: string[] = [];
  #links = 0;

  constructor(workspace: Workspace, parts: string[]) {
    this.#workspace = workspace;
    this.#pending = parts;
    this.#held = [workspace.root];
  }

  walk(lastLink: LastLink): Spot {
    for (;;) {
      const part = this.#pending.shift();
      if (part === undefined) return this.#spot([], "", statEntry(this.#current, "."));
      if (part === "..") this.#goBack();
      else if (this.#pending.length > 0) {
        if (!this.#goInto(part)) return this.#missing(part);
      } else {
        const stats = statEntry(this.#current, part);
        const isFollowed = lastLink === "follow" && stats?.isSymbolicLink() === true && this.#followLink(part);
        if (!isFollowed) return this.#spot([], part, stats);
      }
    }
  }

  /** Closes all directories except for the root and the one that a spot took over. */
  close(): void {
    for (const directory of this.#held.splice(1)) closeSync(directory);
  }

  get #current(): number {
    return this.#held.at(-1) ?? this.#workspace.root;
  }

  #spot(missing: readonly string[], name: string, stats: BigIntStats | undefined): Spot {
    const directory = this.#current;
    if (this.#held.length > 1) this.#held.pop();
    return { directory, parents: this.#names, missing, name, stats };
  }

  #missing(part: string): Spot {
    const rest = [part, ...this.#pending];
    if (rest.includes("..")) throw new FileFault("FILE_NOT_FOUND");
    return this.#spot(rest.slice(0, -1), rest.at(-1) ?? "", undefined);
  }

  #goBack(): void {
    if (this.#held.length === 1) throw new FileFault("PATH_ESCAPE");
    this.#names.pop();
    const left = this.#held.pop();
    if (left !== undefined) closeSync(left);
  }

  /** Returns false if the name does not exist. Retries if the entry is replaced in between. */
  #goInto(part: string): boolean {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      try {
        this.#held.push(openDirectory(this.#workspace, this.#current, part));
        this.#names.push(part);
        return true;
      } catch (fault) {
        const errno = errnoOf(fault);
        if (errno === "ENOENT") return false;
        if (errno !== "ENOTDIR" && errno !== "ELOOP") throw fault;
      }
      if (this.#followLink(part)) return true;
      verifyPassable(this.#current, part);
    }
    throw new FileFault("EXECUTION_FAILED", "unsettled");
  }

  /** Replaces a link by the parts of its target. Returns false if it is not a link. */
  #followLink(part: string): boolean {
    let target: string | undefined;
    try {
      target = readLink(this.#current, part);
    } catch (fault) {
      if (errnoOf(fault) === "ENOENT") return false;
      throw fault;
    }
    if (target === undefined) return false;
    if (++this.#links > MAX_LINKS) throw new FileFault("PATH_ESCAPE", "too-many-links");
    if (target.startsWith("/")) {
      target = this.#insidePath(target);
      for (const directory of this.#held.splice(1)) closeSync(directory);
      this.#names.length = 0;
    }
    const parts = target.split("/").filter((found) => found !== "" && found !== ".");
    if (parts.length + this.#pending.length > MAX_PARTS) throw new FileFault("PATH_ESCAPE", "too-many-links");
    this.#pending.unshift(...parts);
    return true;
  }

  /** An absolute link may point into the workspace, by its path inside or outside the sandbox. */
  #insidePath(target: string): string {
    for (const root of [WORKSPACE_PATH, this.#workspace.outsidePath]) {
      if (target === root) return "";
      if (target.startsWith(`${root}/`)) return target.slice(root.length + 1);
    }
    throw new FileFault("PATH_ESCAPE", "absolute-link");
  }
}
