import { chmodSync, closeSync, fstatSync, mkdirSync, rmdirSync, unlinkSync } from "node:fs";
import { FileFault, markUnchangedOnThrow } from "./file-fault.ts";
import { type HeldEntry, holdEntry, releaseEntry, verifyUnchanged } from "./held-entry.ts";
import { makeParents } from "./make-parents.ts";
import type { DoneReply, ItemState } from "./messages.ts";
import { DELETED } from "./prepare-delete.ts";
import { toPreparedReply, pullFrom } from "./prepare-read.ts";
import { Replacement } from "./replacement.ts";
import { sweepEarlierRuns } from "./sweep.ts";
import { syncDirectory } from "./sync-directory.ts";
import type { Ticket } from "./ticket.ts";
import { entryPath, isInPlace, openDirectory, type Workspace } from "./workspace.ts";

/** Opens the entry at a path in order to replace it. The kernel decides whether it is the expected one. */
export function prepareRestore(workspace: Workspace, path: string, before: ItemState): Ticket {
  const held = holdEntry(workspace, path, "keep");
  if (held.spot.missing.length === 0) sweepEarlierRuns(workspace, held.spot.directory);
  let replacement: Replacement | undefined;
  let position = 0;
  const replace = (): Replacement => (replacement ??= new Replacement(workspace, held));
  const content = (piece: Buffer): void => {
    if (replacement === undefined) replace().createFile();
    replace().write(piece, position);
    position += piece.length;
  };
  try {
    if (held.spot.name === "") throw new FileFault("INVALID_INPUT", "root");
    if (held.state.kind === "other" || before.kind === "other") throw new FileFault("NOT_A_FILE");
    return {
      ...toPreparedReply([held]),
      pull: pullFrom([held]),
      content,
      async commit(payload) {
        if (before.kind === "absent") return await removeHeld(held);
        if (before.kind === "directory") return await restoreDirectory(workspace, held, before.mode);
        markUnchangedOnThrow(() => (before.kind === "link" ? replace().createLink(before.target) : content(payload)));
        return await replace().place(before.kind === "file" ? before.mode & 0o777 : 0);
      },
      close() {
        replacement?.close();
        releaseEntry(held);
      },
    };
  } catch (fault) {
    releaseEntry(held);
    throw fault;
  }
}

async function removeHeld(held: HeldEntry): Promise<DoneReply> {
  markUnchangedOnThrow(() => {
    verifyUnchanged(held);
    removeNow(held);
  });
  await syncDirectory(held.spot.directory);
  return DELETED;
}

function removeNow({ spot, state }: HeldEntry): void {
  const name = entryPath(spot.directory, spot.name);
  if (state.kind === "directory") rmdirSync(name);
  else if (state.kind !== "absent") unlinkSync(name);
}

async function restoreDirectory(workspace: Workspace, held: HeldEntry, mode: number): Promise<DoneReply> {
  const ready = makeParents(workspace, held.spot);
  const { name } = held.spot;
  try {
    if (held.spot.missing.length === 0) verifyUnchanged(held);
    else if (!isInPlace(ready.directory, ready.parents)) throw new FileFault("EXECUTION_FAILED", "changed");
    if (held.state.kind !== "directory") {
      removeNow(held);
      mkdirSync(entryPath(ready.directory, name));
    }
    const opened = openDirectory(workspace, ready.directory, name);
    const restored = setPermissions(opened, mode);
    closeSync(opened);
    await syncDirectory(ready.directory);
    await ready.sync();
    return { type: "done", mode: restored, made: ready.made };
  } catch (fault) {
    ready.undo();
    throw fault;
  } finally {
    ready.close();
  }
}

/**
 * Sets the permissions of a directory and returns its resulting mode. A setgid bit inherited from the parent is kept
 * only if the permissions are already right, because the sandbox cannot set that bit again.
 */
function setPermissions(directory: number, mode: number): number {
  const permissions = mode & DIRECTORY_PERMISSIONS;
  const found = fstatSync(directory).mode & ANY_MODE;
  if ((found & DIRECTORY_PERMISSIONS) === permissions) return found;
  chmodSync(`/proc/self/fd/${directory}`, permissions);
  return permissions;
}

/** Includes the sticky bit, excludes setuid and setgid. */
const DIRECTORY_PERMISSIONS = 0o1777;
const ANY_MODE = 0o7777;
