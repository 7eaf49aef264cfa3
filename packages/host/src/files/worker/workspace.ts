import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from "node:fs";
import { FileFault } from "./file-fault.ts";

/** The directory that everything is about. */
export interface Workspace {
  /** Held open: all paths are walked from here. */
  readonly root: number;
  readonly device: bigint;
  readonly inode: bigint;
  /** Its path outside the sandbox. */
  readonly outsidePath: string;
  /** How names of temporary files begin: those of one kernel's home, of one run of it, and of this worker. */
  readonly ownedPrefix: string;
  readonly runPrefix: string;
  readonly temporaryPrefix: string;
}

export const WORKSPACE_PATH = "/workspace";

/** Opens a name without reading it: a directory that is walked through, or whatever it is that lies there. */
const O_PATH = 0o10000000;
const PASS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A name in a directory that is held open. SECURITY: the name has one part, and what is held cannot be swapped. */
export function entryPath(directory: number, name: string): string {
  return `/proc/self/fd/${directory}/${name}`;
}

export function openRoot(): { root: number; device: bigint; inode: bigint } {
  const root = openSync(WORKSPACE_PATH, PASS);
  const { dev, ino } = fstatSync(root, { bigint: true });
  return { root, device: dev, inode: ino };
}

/** Opens a directory in a directory. Throws ENOTDIR for anything else, a link to a directory included. */
export function openDirectory(workspace: Workspace, directory: number, name: string): number {
  const opened = openSync(entryPath(directory, name), PASS);
  if (fstatSync(opened, { bigint: true }).dev === workspace.device) return opened;
  closeSync(opened);
  throw new FileFault("PATH_ESCAPE", "other-device");
}

/** The same directory once more, to be closed on its own. */
export function reopen(workspace: Workspace, directory: number): number {
  return openDirectory(workspace, directory, ".");
}

/** Opens a file to read it. Never waits: not for the other end of a pipe, not for a device. */
export function openFile(workspace: Workspace, directory: number, name: string): { file: number; stats: BigIntStats } {
  const file = openSync(entryPath(directory, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file, { bigint: true });
    if (!stats.isFile()) throw new FileFault("NOT_A_FILE");
    if (stats.dev !== workspace.device) throw new FileFault("PATH_ESCAPE", "other-device");
    return { file, stats };
  } catch (fault) {
    closeSync(file);
    throw fault;
  }
}

export function statEntry(directory: number, name: string): BigIntStats | undefined {
  return lstatSync(entryPath(directory, name), { bigint: true, throwIfNoEntry: false });
}

/** Where a link leads, or undefined if it is none. Throws ENOENT if nothing is there. */
export function readLink(directory: number, name: string): string | undefined {
  try {
    const target = readlinkSync(entryPath(directory, name), { encoding: "buffer" });
    const text = target.toString("utf8");
    if (!Buffer.from(text).equals(target)) throw new FileFault("EXECUTION_FAILED", "link-name");
    return text;
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "EINVAL") return undefined;
    throw fault;
  }
}

/** Whether a directory that is held is still where it was found. */
export function isInPlace(directory: number, parents: readonly string[]): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${directory}`) === [WORKSPACE_PATH, ...parents].join("/");
  } catch {
    return false;
  }
}
