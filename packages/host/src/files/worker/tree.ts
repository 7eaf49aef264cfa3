import { accessSync, type BigIntStats, closeSync, constants, rmdirSync, unlinkSync } from "node:fs";
import { FileFault } from "./file-fault.ts";
import { isSame, stateOf } from "./held-entry.ts";
import type { ItemState } from "./messages.ts";
import { scanDirectory } from "./scan-directory.ts";
import { entryPath, statEntry, openDirectory, openFile, readLink, reopen, type Workspace } from "./workspace.ts";

/** An entry of a directory tree, as it was when the tree was read. */
export interface TreeEntry {
  /** Path below the top of the tree. */
  readonly parts: readonly string[];
  readonly stats: BigIntStats;
  readonly state: ItemState;
}

/** Maximum number of entries in a tree. */
const MAX_ENTRIES = 100_000;
const MAX_DEPTH = 256;
/** Leaves room for the path of the tree and one more name. */
const MAX_PATH_LENGTH = 3000;

/**
 * Returns all entries of a directory tree, each directory before its contents. Throws if any of them could not be
 * restored later.
 */
export function readTree(workspace: Workspace, top: number): TreeEntry[] {
  const entries: TreeEntry[] = [];
  readBranch(workspace, top, [], entries);
  return entries;
}

export function isSameTree(left: readonly TreeEntry[], right: readonly TreeEntry[]): boolean {
  return (
    left.length === right.length &&
    left.every((entry, index) => {
      const other = right[index];
      if (other === undefined || entry.parts.join("/") !== other.parts.join("/")) return false;
      if (entry.state.kind === "link" && other.state.kind === "link" && entry.state.target !== other.state.target)
        return false;
      return isSame(entry.stats, other.stats);
    })
  );
}

/** Removes all entries, innermost first. Throws if an entry was replaced. */
export function removeTree(workspace: Workspace, top: number, entries: readonly TreeEntry[]): void {
  for (const entry of entries.toReversed()) {
    inParent(workspace, top, entry.parts, (parent, name) => {
      // Does not compare times: they change when another link of the same file is removed.
      if (statEntry(parent, name)?.ino !== entry.stats.ino) throw new FileFault("EXECUTION_FAILED", "changed");
      if (entry.state.kind === "directory") rmdirSync(entryPath(parent, name));
      else unlinkSync(entryPath(parent, name));
    });
  }
}

/** Opens a file of the tree if it is still the same one. */
export function openInTree(workspace: Workspace, top: number, entry: TreeEntry): number {
  return inParent(workspace, top, entry.parts, (parent, name) => {
    const { file, stats } = openFile(workspace, parent, name);
    if (isSame(stats, entry.stats)) return file;
    closeSync(file);
    throw new FileFault("EXECUTION_FAILED", "changed");
  });
}

function readBranch(workspace: Workspace, directory: number, parts: readonly string[], entries: TreeEntry[]): void {
  if (parts.length > MAX_DEPTH || parts.join("/").length > MAX_PATH_LENGTH)
    throw new FileFault("RESOURCE_EXCEEDED", "tree-too-deep", { count: MAX_DEPTH });
  const { entries: found, isPartial } = scanDirectory(directory, MAX_ENTRIES - entries.length);
  if (isPartial) throw new FileFault("RESOURCE_EXCEEDED", "tree-too-large", { count: MAX_ENTRIES });
  if (found.length > 0) verifyWritable(directory);
  for (const { name, isExact } of found) {
    if (!isExact) throw new FileFault("EXECUTION_FAILED", "name");
    const entry = readEntry(workspace, directory, [...parts, name], name);
    entries.push(entry);
    if (entry.state.kind !== "directory") continue;
    const opened = openDirectory(workspace, directory, name);
    try {
      readBranch(workspace, opened, entry.parts, entries);
    } finally {
      closeSync(opened);
    }
  }
}

function readEntry(workspace: Workspace, directory: number, parts: readonly string[], name: string): TreeEntry {
  const stats = statEntry(directory, name);
  if (stats === undefined) throw new FileFault("EXECUTION_FAILED", "changed");
  if (stats.dev !== workspace.device) throw new FileFault("PATH_ESCAPE", "other-device");
  const state = stateOf(stats, stats.isSymbolicLink() ? readLink(directory, name) : undefined);
  if (state.kind === "other") throw new FileFault("NOT_A_FILE");
  return { parts, stats, state };
}

/** Fails before the deletion starts rather than halfway through. */
function verifyWritable(directory: number): void {
  try {
    accessSync(`/proc/self/fd/${directory}`, constants.W_OK | constants.X_OK);
  } catch {
    throw new FileFault("EXECUTION_FAILED", "unwritable-tree");
  }
}

function inParent<Result>(
  workspace: Workspace,
  top: number,
  parts: readonly string[],
  act: (parent: number, name: string) => Result,
): Result {
  let parent = reopen(workspace, top);
  try {
    for (const part of parts.slice(0, -1)) {
      const next = openDirectory(workspace, parent, part);
      closeSync(parent);
      parent = next;
    }
    return act(parent, parts.at(-1) ?? "");
  } finally {
    closeSync(parent);
  }
}
