import { closeSync, constants, fstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { KernelError } from "@narthex/contracts";
import { systemErrorCode } from "./system-error.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/**
 * Removes a directory that this process created, with all its content. Does nothing if it does not exist.
 *
 * SECURITY: a kernel may run as root, and temporary directories are in places where other users can write: a directory
 * that a cleaner removed can come back as another user's, full of links that change during the removal. Every step
 * descends by one name from an open directory, no link is followed, and a directory of another user is left alone. Not
 * for trees that another user can write: those are emptied in a sandbox. Tested by `remove-own-tree.test.ts`.
 */
export function removeOwnTree(path: string): void {
  const directory = openDirectory(path);
  if (directory === undefined) return;
  try {
    const { uid } = fstatSync(directory);
    if (uid !== process.getuid?.()) {
      throw new KernelError("HOME_UNSAFE", `\`${path}\` belongs to user ${uid} and is not removed`);
    }
    empty(directory);
  } finally {
    closeSync(directory);
  }
  removeEmpty(path);
}

/** As `removeOwnTree`, but ignores failures: for shutdown, or while another error is being reported. */
export function tryToRemoveOwnTree(path: string): void {
  try {
    removeOwnTree(path);
  } catch {
    // It belongs to another user by now, or the disk is not writable.
  }
}

function openDirectory(path: string | Buffer): number | undefined {
  try {
    return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (fault) {
    if (systemErrorCode(fault) === "ENOENT") return undefined;
    throw fault;
  }
}

function empty(directory: number): void {
  const parent = `/proc/self/fd/${directory}`;
  for (const name of readdirSync(parent, "buffer")) {
    const path = Buffer.concat([Buffer.from(`${parent}/`), name]);
    if (!tryUnlink(path)) removeDirectory(path);
  }
}

/** Returns false if it is a directory. */
function tryUnlink(path: Buffer): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (fault) {
    const code = systemErrorCode(fault);
    if (code === "ENOENT") return true;
    if (code === "EISDIR" || code === "EPERM") return false;
    throw fault;
  }
}

function removeDirectory(path: Buffer): void {
  const directory = openDirectory(path);
  if (directory === undefined) return;
  try {
    empty(directory);
  } finally {
    closeSync(directory);
  }
  removeEmpty(path);
}

/** Another process that cleans up may have removed it first. */
function removeEmpty(path: string | Buffer): void {
  try {
    rmdirSync(path);
  } catch (fault) {
    if (systemErrorCode(fault) !== "ENOENT") throw fault;
  }
}
