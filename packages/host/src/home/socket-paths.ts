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

/** The system cuts longer socket paths off. */
const MAX_SOCKET_PATH_BYTES = 103;
const OTHERS_MAY_ANYTHING = 0o077;
const POINTER_FILE = "sockets";
const PREFIX = "narthex-";

/**
 * Where the kernel of this home opens its sockets: in `run/`, or where its path is too long, where a file there says.
 *
 * SECURITY: temporary files are removed by the system, and another user can then make a directory of that name. A client would
 * give the administrator's token to the kernel that answers there, and believe its answers. Tested by "sockets elsewhere are
 * looked for only in a directory that is its owner's alone".
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

/** The same, making the other directory if one is needed. For whoever holds the home. */
export async function prepareSocketPaths(paths: HomePaths): Promise<SocketPaths> {
  if (fits(paths.run)) return socketsIn(paths.run);
  const found = await findLeftoverDirectory(paths);
  const directory = found ?? (await openPrivateDirectory(await mkdtemp(join(tmpdir(), PREFIX))));
  if (found === undefined) await writePrivateFile(join(paths.run, POINTER_FILE), directory);
  return socketsIn(directory);
}

/**
 * A kernel that was killed has left its directory: it is used again, or each would leave another one.
 *
 * SECURITY: whoever may write to the directory above could have put another one in its place; it must be ours alone.
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

/** Leaves nothing behind where the sockets lay elsewhere. */
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
