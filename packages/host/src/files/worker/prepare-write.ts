import { setImmediate as turn } from "node:timers/promises";
import { asUnchanged, FileFault, markUnchangedOnThrow } from "./file-fault.ts";
import { type HeldEntry, holdEntry, releaseEntry } from "./held-entry.ts";
import type { DoneReply, PreparedReply } from "./messages.ts";
import { toPreparedReply, pullFrom } from "./prepare-read.ts";
import { readRange } from "./read-file.ts";
import { Replacement } from "./replacement.ts";
import type { Ticket } from "./ticket.ts";
import type { Workspace } from "./workspace.ts";

export type WriteMode = "replace" | "create_only" | "append";

const NEW_FILE_MODE = 0o644;
const PERMISSIONS = 0o777;
const COPIED_AT_ONCE = 1024 * 1024;

/** Opens the file to overwrite, or the place where it is to be created. */
export function prepareWrite(workspace: Workspace, path: string, mode: WriteMode): Ticket {
  // For `create_only`, a dangling link counts as existing: nothing may be created through it.
  const held = holdEntry(workspace, path, mode === "create_only" ? "keep" : "follow");
  try {
    if (held.state.kind !== "absent" && mode === "create_only") throw new FileFault("FILE_EXISTS");
    if (held.state.kind !== "absent" && held.state.kind !== "file") throw new FileFault("NOT_A_FILE");
    return writeTicket(workspace, held, mode, toPreparedReply([held]));
  } catch (fault) {
    releaseEntry(held);
    throw fault;
  }
}

function writeTicket(
  workspace: Workspace,
  held: HeldEntry,
  mode: WriteMode,
  answer: { prepared: PreparedReply; payload: Buffer },
): Ticket {
  const size = held.state.kind === "file" ? held.state.size : 0;
  const start = mode === "append" ? size : 0;
  let position = start;
  let replacement: Replacement | undefined;
  const content = (piece: Buffer): void => {
    if (replacement === undefined) {
      replacement = new Replacement(workspace, held);
      replacement.createFile();
    }
    replacement.write(piece, position);
    position += piece.length;
  };
  return {
    ...answer,
    pull: pullFrom([held]),
    content,
    async commit(payload) {
      markUnchangedOnThrow(() => content(payload));
      if (replacement === undefined) throw new TypeError("nothing was made");
      await copyStart(held, replacement, start).catch((fault: unknown) => {
        throw asUnchanged(fault);
      });
      return await asFileExists(mode, replacement.place(modeOf(held)));
    },
    close() {
      replacement?.close();
      releaseEntry(held);
    },
  };
}

/** A file keeps its permissions when its content is replaced, except for setuid and setgid. */
export function modeOf({ state }: HeldEntry): number {
  return state.kind === "file" ? state.mode & PERMISSIONS : NEW_FILE_MODE;
}

/** Copies the content that is appended to. Yields to other operations between chunks, because the file may be long. */
async function copyStart({ file }: HeldEntry, replacement: Replacement, length: number): Promise<void> {
  if (file === undefined) return;
  for (let offset = 0; offset < length; offset += COPIED_AT_ONCE) {
    replacement.write(readRange(file, offset, Math.min(COPIED_AT_ONCE, length - offset)), offset);
    await turn();
  }
}

/** For `create_only`, reports that the file exists rather than that it changed. */
async function asFileExists(mode: WriteMode, placing: Promise<DoneReply>): Promise<DoneReply> {
  try {
    return await placing;
  } catch (fault) {
    const isTaken = mode === "create_only" && fault instanceof FileFault && fault.reason === "changed";
    throw isTaken ? new FileFault("FILE_EXISTS", "code", { unchanged: true }) : fault;
  }
}
