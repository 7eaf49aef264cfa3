import { closeSync, rmdirSync } from "node:fs";
import { tryToUnlink } from "./replacement.ts";
import { scanDirectory } from "./scan-directory.ts";
import { readTree, removeTree } from "./tree.ts";
import { leaveSpot, walk } from "./walk.ts";
import { entryPath, openDirectory, type Workspace } from "./workspace.ts";

/** Maximum number of names that are scanned in one directory. */
const MAX_SCANNED = 10_000;

/**
 * Removes temporary files that failed workers left in a directory. Errors are ignored, because they must not affect
 * other operations.
 */
export function sweepPath(workspace: Workspace, path: string, isLeftOver: (name: string) => boolean): void {
  try {
    const spot = walk(workspace, path === "." ? "x" : `${path}/x`, "keep");
    try {
      if (spot.missing.length === 0) sweepDirectory(workspace, spot.directory, isLeftOver);
    } finally {
      leaveSpot(spot);
    }
  } catch {
    // Removed, replaced or not readable.
  }
}

/**
 * Removes temporary files of earlier runs of the same kernel. Only one run exists at a time, so the earlier ones have
 * ended.
 */
export function sweepEarlierRuns(workspace: Workspace, directory: number): void {
  const isLeftOver = (name: string): boolean =>
    name.startsWith(workspace.ownedPrefix) && !name.startsWith(workspace.runPrefix);
  try {
    sweepDirectory(workspace, directory, isLeftOver);
  } catch {
    // Not readable or not writable.
  }
}

function sweepDirectory(workspace: Workspace, directory: number, isLeftOver: (name: string) => boolean): void {
  for (const { name, kind } of scanDirectory(directory, MAX_SCANNED).entries) {
    if (!isLeftOver(name)) continue;
    if (kind === "directory") sweepTree(workspace, directory, name);
    else tryToUnlink(entryPath(directory, name));
  }
}

/** Removes a directory whose deletion was interrupted. */
function sweepTree(workspace: Workspace, directory: number, name: string): void {
  const top = openDirectory(workspace, directory, name);
  try {
    removeTree(workspace, top, readTree(workspace, top));
    rmdirSync(entryPath(directory, name));
  } finally {
    closeSync(top);
  }
}
