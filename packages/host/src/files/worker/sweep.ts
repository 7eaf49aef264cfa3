import { closeSync, rmdirSync } from "node:fs";
import { tryToUnlink } from "./replacement.ts";
import { scanDirectory } from "./scan-directory.ts";
import { readTree, removeTree } from "./tree.ts";
import { leaveSpot, walk } from "./walk.ts";
import { entryPath, openDirectory, type Workspace } from "./workspace.ts";

/** A directory with more names than that is left as it is. */
const MAX_SCANNED = 10_000;

/** Takes away what workers that died left in a directory. Whatever hinders it, hinders nobody else. */
export function sweepPath(workspace: Workspace, path: string, isLeftOver: (name: string) => boolean): void {
  try {
    const spot = walk(workspace, path === "." ? "x" : `${path}/x`, "keep");
    try {
      if (spot.missing.length === 0) sweepDirectory(workspace, spot.directory, isLeftOver);
    } finally {
      leaveSpot(spot);
    }
  } catch {
    // Gone, exchanged, or not to be read.
  }
}

/** Takes away what earlier runs of the same kernel left. There is only one run at a time, so theirs are over. */
export function sweepEarlierRuns(workspace: Workspace, directory: number): void {
  const isLeftOver = (name: string): boolean =>
    name.startsWith(workspace.ownedPrefix) && !name.startsWith(workspace.runPrefix);
  try {
    sweepDirectory(workspace, directory, isLeftOver);
  } catch {
    // Not to be read, or not to be written.
  }
}

function sweepDirectory(workspace: Workspace, directory: number, isLeftOver: (name: string) => boolean): void {
  for (const { name, kind } of scanDirectory(directory, MAX_SCANNED).entries) {
    if (!isLeftOver(name)) continue;
    if (kind === "directory") sweepTree(workspace, directory, name);
    else tryToUnlink(entryPath(directory, name));
  }
}

/** A directory that was being deleted. */
function sweepTree(workspace: Workspace, directory: number, name: string): void {
  const top = openDirectory(workspace, directory, name);
  try {
    removeTree(workspace, top, readTree(workspace, top));
    rmdirSync(entryPath(directory, name));
  } finally {
    closeSync(top);
  }
}
