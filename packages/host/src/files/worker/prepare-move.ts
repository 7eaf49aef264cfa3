import { mkdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { errnoOf, FileFault, markUnchangedOnThrow } from "./file-fault.ts";
import { type HeldEntry, holdEntry, releaseEntry, verifyUnchanged } from "./held-entry.ts";
import { linkExclusively } from "./link-exclusively.ts";
import { makeParents, type ReadyDirectory } from "./make-parents.ts";
import { toPreparedReply, pullFrom } from "./prepare-read.ts";
import { syncDirectory } from "./sync-directory.ts";
import type { Ticket } from "./ticket.ts";
import { entryPath, isInPlace, type Workspace } from "./workspace.ts";

export interface MoveOptions {
  readonly source: string;
  readonly destination: string;
  readonly overwrite: boolean;
}

/** Opens the entry to move, and the entry that it would replace. Links at the end of either path are not followed. */
export function prepareMove(workspace: Workspace, options: MoveOptions): Ticket {
  const source = holdEntry(workspace, options.source, "keep");
  let destination: HeldEntry | undefined;
  try {
    destination = holdEntry(workspace, options.destination, "keep");
    verifyMove(source, destination, options.overwrite);
    return moveTicket(workspace, source, destination);
  } catch (fault) {
    releaseEntry(source);
    if (destination !== undefined) releaseEntry(destination);
    throw fault;
  }
}

function verifyMove(source: HeldEntry, destination: HeldEntry, overwrite: boolean): void {
  if (source.spot.name === "" || destination.spot.name === "") throw new FileFault("INVALID_INPUT", "root");
  if (source.state.kind === "absent") throw new FileFault("FILE_NOT_FOUND");
  if (source.state.kind === "other" || destination.state.kind === "other") throw new FileFault("NOT_A_FILE");
  if (destination.path.startsWith(`${source.path}/`)) throw new FileFault("INVALID_INPUT", "into-itself");
  if (destination.state.kind === "absent") return;
  if (!overwrite || destination.path === source.path) throw new FileFault("FILE_EXISTS");
  if (destination.state.kind === "directory") throw new FileFault("FILE_EXISTS", "directory-there");
  if (source.state.kind === "directory") throw new FileFault("NOT_A_DIRECTORY");
}

function moveTicket(workspace: Workspace, source: HeldEntry, destination: HeldEntry): Ticket {
  return {
    ...toPreparedReply([source, destination]),
    pull: pullFrom([source, destination]),
    async commit() {
      const ready = markUnchangedOnThrow(() => makeParents(workspace, destination.spot));
      try {
        markUnchangedOnThrow(() => moveNow(source, destination, ready));
        await syncDirectory(ready.directory);
        await syncDirectory(source.spot.directory);
        await ready.sync();
        return { type: "done", mode: 0, made: ready.made };
      } finally {
        ready.close();
      }
    },
    close() {
      releaseEntry(source);
      releaseEntry(destination);
    },
  };
}

function moveNow(source: HeldEntry, destination: HeldEntry, ready: ReadyDirectory): void {
  try {
    verifyUnchanged(source);
    if (destination.spot.missing.length === 0) verifyUnchanged(destination);
    else if (!isInPlace(ready.directory, ready.parents)) throw new FileFault("EXECUTION_FAILED", "changed");
    rename(source, destination, entryPath(ready.directory, destination.spot.name));
  } catch (fault) {
    ready.undo();
    throw errnoOf(fault) === "EEXIST" ? new FileFault("EXECUTION_FAILED", "changed") : fault;
  }
}

function rename(source: HeldEntry, destination: HeldEntry, to: string): void {
  const from = entryPath(source.spot.directory, source.spot.name);
  if (destination.stats !== undefined) {
    // Two names of the same file: `rename` would keep both.
    if (destination.stats.ino === source.stats?.ino) unlinkSync(from);
    else renameSync(from, to);
  } else if (source.state.kind === "directory") moveDirectory(from, to);
  else linkExclusively(from, to);
}

/**
 * Renames the directory onto an empty directory created for this purpose, so that nothing that another process put
 * there is replaced.
 */
function moveDirectory(from: string, to: string): void {
  mkdirSync(to);
  try {
    renameSync(from, to);
  } catch (fault) {
    rmdirSync(to);
    throw fault;
  }
}
