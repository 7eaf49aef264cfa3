import { lstat, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { openPrivateDirectory } from "../system/private-directory.ts";
import { tryToRemoveOwnTree } from "../system/remove-own-tree.ts";
import type { HomePaths } from "./home-paths.ts";
import { writePrivateFile } from "./private-file.ts";

export interface SocketPaths {
  readonly framed: string;
  readonly services: string;
}

/** Longest path of a socket that the system supports. */
const MAX_SOCKET_PATH_BYTES = 103;
const OTHERS_MAY_ANYTHING = 0o077;
const POINTER_FILE = "sockets";
const PREFIX = "narthex-";

/**
 * Finds the sockets of the kernel of this home: in `run/`, or if that path is too long, in the directory named in a
 * file there.
 *
 * SECURITY: the system removes temporary files, and another user can then create a directory of the same name. A client
 * would send the administrator's token to the process that listens there, and trust its responses. Tested by "sockets
 * elsewhere are looked for only in a directory that is its owner's alone".
 */
export async function findSocketPaths(paths: HomePaths): Promise<SocketPaths> {
  if (fits(paths.run)) return socketsIn(paths.run);
  try {
    const named = (await readFile(join(paths.run, POINTER_FILE), "utf8")).trim();
    return socketsIn((await isAloneOf(named, (await lstat(paths.run)).uid)) ? named : paths.run);
  } catch {
    return socketsIn(paths.run);
  }
}

async function isAloneOf(directory: string, owner: number): Promise<boolean> {
  const facts = await lstat(directory);
  return facts.isDirectory() && facts.uid === owner && (facts.mode & OTHERS_MAY_ANYTHING) === 0;
}

/** Returns the same paths, creating the other directory if it is needed. Only the holder of the home may call it. */
export async function prepareSocketPaths(paths: HomePaths): Promise<SocketPaths> {
  if (fits(paths.run)) return socketsIn(paths.run);
  const found = await findLeftoverDirectory(paths);
  const directory = found ?? (await openPrivateDirectory(await mkdtemp(join(tmpdir(), PREFIX))));
  if (found === undefined) await writePrivateFile(join(paths.run, POINTER_FILE), directory);
  return socketsIn(directory);
}

/**
 * Returns the directory that a killed kernel left, so that it is reused instead of creating one more each time.
 *
 * SECURITY: a user who can write to the parent directory could have replaced it, so it must belong to this user alone.
 */
async function findLeftoverDirectory(paths: HomePaths): Promise<string | undefined> {
  try {
    const named = (await readFile(join(paths.run, POINTER_FILE), "utf8")).trim();
    if (!basename(named).startsWith(PREFIX) || !(await lstat(named)).isDirectory()) return undefined;
    return await openPrivateDirectory(named);
  } catch {
    return undefined;
  }
}

/** Removes the directory of sockets that are outside the home. */
export async function removeSocketDirectory(paths: HomePaths, sockets: SocketPaths): Promise<void> {
  if (fits(paths.run)) return;
  await rm(join(paths.run, POINTER_FILE), { force: true });
  tryToRemoveOwnTree(dirname(sockets.framed));
}

function fits(directory: string): boolean {
  return Buffer.byteLength(socketsIn(directory).services) <= MAX_SOCKET_PATH_BYTES;
}

function socketsIn(directory: string): SocketPaths {
  return { framed: join(directory, "framed.sock"), services: join(directory, "services.sock") };
}
