import { type BigIntStats, closeSync } from "node:fs";
import { errnoOf, FileFault } from "./file-fault.ts";
import type { ItemState } from "./messages.ts";
import { type LastLink, leaveSpot, pathOf, type Spot, walk } from "./walk.ts";
import { isInPlace, statEntry, openFile, readLink, type Workspace } from "./workspace.ts";

/** The file system entry found at a path, held open. */
export interface HeldEntry {
  readonly spot: Spot;
  readonly path: string;
  readonly state: ItemState;
  /** Undefined if nothing exists there. */
  readonly stats: BigIntStats | undefined;
  /** Descriptor for reading, if it is a file. */
  readonly file: number | undefined;
}

const MAX_TRIES = 40;

/**
 * Walks to a path and opens the entry there. Gives up after a number of attempts if another process keeps replacing it.
 */
export function holdEntry(workspace: Workspace, path: string, lastLink: LastLink): HeldEntry {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const spot = walk(workspace, path, lastLink);
    try {
      const held = holdSpot(workspace, spot, lastLink);
      if (held !== undefined) return held;
    } catch (fault) {
      leaveSpot(spot);
      throw fault;
    }
    leaveSpot(spot);
  }
  throw new FileFault("EXECUTION_FAILED", "unsettled");
}

export function releaseEntry({ spot, file }: HeldEntry): void {
  leaveSpot(spot);
  if (file !== undefined) closeSync(file);
}

/** Throws unless the name still refers to the held entry, unchanged. */
export function verifyUnchanged({ spot, stats, state }: HeldEntry): void {
  const isThere = isInPlace(spot.directory, spot.parents);
  const found =
    isThere && spot.missing.length === 0 && spot.name !== "" ? statEntry(spot.directory, spot.name) : undefined;
  if (!isThere || !isSame(found, stats)) throw new FileFault("EXECUTION_FAILED", "changed");
  if (state.kind === "link" && readLink(spot.directory, spot.name) !== state.target) {
    throw new FileFault("EXECUTION_FAILED", "changed");
  }
}

/** For a directory, it is enough that it is the same one: its contents are checked where they matter. */
export function isSame(left: BigIntStats | undefined, right: BigIntStats | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  if (left.ino !== right.ino || left.dev !== right.dev || left.mode !== right.mode) return false;
  return (
    left.isDirectory() || (left.size === right.size && left.mtimeNs === right.mtimeNs && left.ctimeNs === right.ctimeNs)
  );
}

export function stateOf(stats: BigIntStats, target: string | undefined): ItemState {
  const mode = Number(stats.mode & 0o7777n);
  if (stats.isFile()) return { kind: "file", size: Number(stats.size), mode };
  if (stats.isDirectory()) return { kind: "directory", mode };
  return target === undefined ? { kind: "other" } : { kind: "link", target };
}

/** Returns undefined if the entry was replaced by another kind between two checks. */
function holdSpot(workspace: Workspace, spot: Spot, lastLink: LastLink): HeldEntry | undefined {
  const path = pathOf(spot);
  const { directory, name, stats } = spot;
  if (stats === undefined) return { spot, path, state: { kind: "absent" }, stats, file: undefined };
  if (stats.dev !== workspace.device) throw new FileFault("PATH_ESCAPE", "other-device");
  if (stats.isSymbolicLink()) {
    if (lastLink === "follow") return undefined;
    const target = readLink(directory, name);
    return target === undefined ? undefined : { spot, path, state: stateOf(stats, target), stats, file: undefined };
  }
  if (!stats.isFile()) return { spot, path, state: stateOf(stats, undefined), stats, file: undefined };
  return holdFile(workspace, spot, path);
}

function holdFile(workspace: Workspace, spot: Spot, path: string): HeldEntry | undefined {
  try {
    const { file, stats } = openFile(workspace, spot.directory, spot.name);
    return { spot, path, state: stateOf(stats, undefined), stats, file };
  } catch (fault) {
    if (["ELOOP", "ENOENT"].includes(errnoOf(fault))) return undefined;
    throw fault;
  }
}
