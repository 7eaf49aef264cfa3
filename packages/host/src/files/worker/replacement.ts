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
 * Something new that takes the place of what is held, all at once: it is made under a temporary name in the same
 * directory, made durable, and then given the name.
 *
 * INVARIANT: nothing waits between the last look at what is held and the change of the name, so no other operation of
 * this worker, which has the workspace's writes for itself, comes between them. Another process can, for the length
 * of two system calls: there is none that replaces a file only if it is a certain one. It loses what it wrote then, as
 * it would have a moment earlier; nothing gets out of the workspace by it.
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

  /** Makes it a file. */
  createFile(): void {
    this.#file = openSync(this.#temporary, CREATE, 0o600);
  }

  /** Makes it a link. */
  createLink(target: string): void {
    symlinkSync(target, this.#temporary);
  }

  /** Writes all of it, at a place of the file. */
  write(bytes: Uint8Array, position: number): void {
    const file = this.#file;
    if (file === undefined) throw new TypeError("not a file");
    let done = 0;
    while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }

  /** Gives it its name. With `mode` for files. */
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

  /** Lets go; takes everything away again that was not placed. */
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

  /** SECURITY: its name can be read by whoever works in the same directory, who may have put something else there. */
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
    // Never made, or already where it belongs.
  }
}
