import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from "node:fs";
import { FileFault } from "./file-fault.ts";

/** The directory that all operations of a worker are confined to. */
export interface Workspace {
  /** Open descriptor from which all paths are walked. */
  readonly root: number;
  readonly device: bigint;
  readonly inode: bigint;
  /** Path outside the sandbox. */
  readonly outsidePath: string;
  /** Prefixes of temporary file names: of one kernel's home, of one run of it, and of this worker. */
  readonly ownedPrefix: string;
  readonly runPrefix: string;
  readonly temporaryPrefix: string;
}

export const WORKSPACE_PATH = "/workspace";

/** Opens a name without reading it: a directory on the way, or an entry of any type. */
const O_PATH = 0o10000000;
const PASS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Returns the path of a name in an open directory. SECURITY: the name has a single part, and an open directory cannot
 * be swapped.
 */
export function entryPath(directory: number, name: string): string {
  return `/proc/self/fd/${directory}/${name}`;
}

export function openRoot(): { root: number; device: bigint; inode: bigint } {
  const root = openSync(WORKSPACE_PATH, PASS);
  const { dev, ino } = fstatSync(root, { bigint: true });
  return { root, device: dev, inode: ino };
}

/** Opens a directory in a directory. Throws ENOTDIR for anything else, including a link to a directory. */
export function openDirectory(workspace: Workspace, directory: number, name: string): number {
  const opened = openSync(entryPath(directory, name), PASS);
  if (fstatSync(opened, { bigint: true }).dev === workspace.device) return opened;
  closeSync(opened);
  throw new FileFault("PATH_ESCAPE", "other-device");
}

/** Opens the same directory again. The caller must close it separately. */
export function reopen(workspace: Workspace, directory: number): number {
  return openDirectory(workspace, directory, ".");
}

/** Opens a file for reading. Never blocks, neither on a pipe nor on a device. */
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

/** Returns the target of a link, or undefined if it is not a link. Throws ENOENT if nothing exists. */
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

/** Whether an open directory is still at the path where it was found. */
export function isInPlace(directory: number, parents: readonly string[]): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${directory}`) === [WORKSPACE_PATH, ...parents].join("/");
  } catch {
    return false;
  }
}
