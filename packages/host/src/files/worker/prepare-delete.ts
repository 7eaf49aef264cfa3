import { closeSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { asUnchanged, FileFault, markUnchangedOnThrow } from "./file-fault.ts";
import { encodeEntries } from "./encode-entries.ts";
import { type HeldEntry, holdEntry, releaseEntry, verifyUnchanged } from "./held-entry.ts";
import type { DoneReply, Item } from "./messages.ts";
import { toPreparedReply, pullFrom } from "./prepare-read.ts";
import { readRange } from "./read-file.ts";
import { scanDirectory } from "./scan-directory.ts";
import { syncDirectory } from "./sync-directory.ts";
import type { Ticket } from "./ticket.ts";
import { isSameTree, openInTree, readTree, removeTree, type TreeEntry } from "./tree.ts";
import { entryPath, openDirectory, type Workspace } from "./workspace.ts";

/** Limit for all trees that wait to be deleted, because each uses memory. */
const MAX_HELD_ENTRIES = 200_000;
let heldEntries = 0;
let temporaries = 0;

/** Opens the entry to delete. A link itself is deleted, never its target. */
export function prepareDelete(workspace: Workspace, path: string, recursive: boolean): Ticket {
  const held = holdEntry(workspace, path, "keep");
  try {
    const { kind } = held.state;
    if (held.spot.name === "") throw new FileFault("INVALID_INPUT", "root");
    if (kind === "absent") throw new FileFault("FILE_NOT_FOUND");
    if (kind === "other") throw new FileFault("NOT_A_FILE");
    if (kind !== "directory") return leafTicket(held);
    return treeTicket(workspace, held, recursive);
  } catch (fault) {
    releaseEntry(held);
    throw fault;
  }
}

export const DELETED: DoneReply = { type: "done", mode: 0, made: [] };

function leafTicket(held: HeldEntry): Ticket {
  return {
    ...toPreparedReply([held]),
    pull: pullFrom([held]),
    async commit() {
      markUnchangedOnThrow(() => {
        verifyUnchanged(held);
        unlinkSync(entryPath(held.spot.directory, held.spot.name));
      });
      await syncDirectory(held.spot.directory);
      return DELETED;
    },
    close: () => releaseEntry(held),
  };
}

function treeTicket(workspace: Workspace, held: HeldEntry, recursive: boolean): Ticket {
  const top = openDirectory(workspace, held.spot.directory, held.spot.name);
  let entries: readonly TreeEntry[];
  try {
    if (!recursive && scanDirectory(top, 1).entries.length > 0) throw new FileFault("DIRECTORY_NOT_EMPTY");
    entries = readTree(workspace, top);
    if (heldEntries + entries.length > MAX_HELD_ENTRIES) throw new FileFault("RESOURCE_EXCEEDED", "tree-too-large");
  } catch (fault) {
    closeSync(top);
    throw fault;
  }
  heldEntries += entries.length;
  const items = entries.map(({ parts, state }): Item => ({ path: [held.path, ...parts].join("/"), state }));
  let opened: { readonly item: number; readonly file: number } | undefined;
  const closeOpened = (): void => {
    if (opened !== undefined) closeSync(opened.file);
    opened = undefined;
  };
  return {
    ...toPreparedReply([held]),
    entries: (from) => encodeEntries(items, from, false),
    pull(item, offset, length) {
      if (opened?.item !== item) {
        closeOpened();
        const entry = entries[item - 1];
        if (entry === undefined) throw new FileFault("NOT_A_FILE");
        opened = { item, file: openInTree(workspace, top, entry) };
      }
      return readRange(opened.file, offset, length);
    },
    async commit() {
      closeOpened();
      deleteTree(workspace, held, top, entries);
      await syncDirectory(held.spot.directory);
      return DELETED;
    },
    close() {
      heldEntries -= entries.length;
      closeOpened();
      closeSync(top);
      releaseEntry(held);
    },
  };
}

/**
 * Deletes a directory. Renames it first, so that other processes no longer find it, then compares its contents with
 * those reported before. If they differ, its name is restored.
 */
function deleteTree(workspace: Workspace, held: HeldEntry, top: number, entries: readonly TreeEntry[]): void {
  const { directory, name } = held.spot;
  const hidden = entryPath(directory, `${workspace.temporaryPrefix}tree-${temporaries++}`);
  markUnchangedOnThrow(() => {
    verifyUnchanged(held);
    renameSync(entryPath(directory, name), hidden);
  });
  let isRemoving = false;
  try {
    if (!isSameTree(readTree(workspace, top), entries)) throw new FileFault("EXECUTION_FAILED", "changed");
    isRemoving = true;
    removeTree(workspace, top, entries);
    rmdirSync(hidden);
  } catch (fault) {
    const isNamedAgain = restoreName(hidden, entryPath(directory, name));
    throw isNamedAgain && !isRemoving ? asUnchanged(fault) : fault;
  }
}

/**
 * Renames it onto an empty directory created for this purpose, so that nothing is overwritten. If the name is taken,
 * uses another one beside it: under its temporary name it would be removed by a later sweep. Returns whether it has its
 * original name again.
 */
function restoreName(from: string, to: string): boolean {
  for (const name of [to, `${to}.kept-${temporaries}`]) {
    try {
      mkdirSync(name);
      renameSync(from, name);
      return name === to;
    } catch {
      // Tries the next name, if any.
    }
  }
  return false;
}
