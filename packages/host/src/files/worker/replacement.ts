import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { asUnchanged, errnoOf, FileFault, markUnchangedOnThrow } from "./file-fault.ts";
import { type HeldEntry, verifyUnchanged } from "./held-entry.ts";
import { linkExclusively } from "./link-exclusively.ts";
import { makeParents, type ReadyDirectory } from "./make-parents.ts";
import type { DoneReply } from "./messages.ts";
import { syncDirectory, syncFile } from "./sync-directory.ts";
import { entryPath, isInPlace, type Workspace } from "./workspace.ts";

const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
let temporaries = 0;

/**
 * A new entry that replaces the held one atomically: it is created under a temporary name in the same directory, made
 * durable, and then renamed.
 *
 * INVARIANT: nothing is awaited between the last check of the held entry and the rename, so no other operation of this
 * worker, which is the only one that writes to the workspace, runs in between. Another process can, for the duration of
 * two system calls, because no system call replaces a file only if it is a specific one. Its write is lost then, as it
 * would be a moment earlier; nothing outside the workspace is affected.
 */
export class Replacement {
  readonly #held: HeldEntry;
  readonly #ready: ReadyDirectory;
  readonly #temporary: string;
  #file: number | undefined;
  #isPlaced = false;

  constructor(workspace: Workspace, held: HeldEntry) {
    this.#held = held;
    this.#ready = makeParents(workspace, held.spot);
    this.#temporary = entryPath(this.#ready.directory, `${workspace.temporaryPrefix}${temporaries++}`);
  }

  /** Creates the entry as a file. */
  createFile(): void {
    this.#file = openSync(this.#temporary, CREATE, 0o600);
  }

  /** Creates the entry as a link. */
  createLink(target: string): void {
    symlinkSync(target, this.#temporary);
  }

  /** Writes all bytes at a position of the file. */
  write(bytes: Uint8Array, position: number): void {
    const file = this.#file;
    if (file === undefined) throw new TypeError("not a file");
    let done = 0;
    while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }

  /** Renames the entry to its final name. `mode` applies to files. */
  async place(mode: number): Promise<DoneReply> {
    const file = this.#file;
    if (file !== undefined) {
      markUnchangedOnThrow(() => fchmodSync(file, mode));
      await syncFile(file).catch((fault: unknown) => {
        throw asUnchanged(fault);
      });
    }
    this.#takeName();
    this.#isPlaced = true;
    await syncDirectory(this.#ready.directory);
    await this.#ready.sync();
    return { type: "done", mode, made: this.#ready.made };
  }

  /** Releases everything, and removes the entry unless it was placed. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    if (!this.#isPlaced) {
      tryToUnlink(this.#temporary);
      this.#ready.undo();
    }
    this.#ready.close();
  }

  #takeName(): void {
    const { kind } = this.#held.state;
    const name = entryPath(this.#ready.directory, this.#held.spot.name);
    markUnchangedOnThrow(() => {
      this.#verifyPlace();
      if (kind === "file" || kind === "link") renameSync(this.#temporary, name);
      else if (kind === "directory") rmdirSync(name);
      else this.#linkTo(name);
    });
    if (kind === "directory") this.#linkTo(name);
  }

  #verifyPlace(): void {
    if (this.#held.spot.missing.length === 0) verifyUnchanged(this.#held);
    else if (!isInPlace(this.#ready.directory, this.#ready.parents)) throw new FileFault("EXECUTION_FAILED", "changed");
    this.#verifyTemporary();
  }

  #linkTo(name: string): void {
    try {
      linkExclusively(this.#temporary, name);
    } catch (fault) {
      throw errnoOf(fault) === "EEXIST" ? new FileFault("EXECUTION_FAILED", "changed") : fault;
    }
  }

  /**
   * SECURITY: processes that work in the same directory can read the temporary name, and may have replaced the file
   * there.
   */
  #verifyTemporary(): void {
    if (this.#file === undefined) return;
    const found = lstatSync(this.#temporary, { bigint: true, throwIfNoEntry: false });
    if (found?.ino !== fstatSync(this.#file, { bigint: true }).ino) throw new FileFault("EXECUTION_FAILED", "changed");
  }
}

export function tryToUnlink(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Never created, or already placed.
  }
}
