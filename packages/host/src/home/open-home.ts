import { openNamedDirectory, openPrivateDirectory } from "../system/private-directory.ts";
import { pathUnusable, storeUnavailable, systemErrorCode } from "../system/system-error.ts";
import { type BearerTokens, issueBearerTokens } from "./bearer-tokens.ts";
import { type HomeLock, lockHome } from "./home-lock.ts";
import { type HomePaths, homePaths } from "./home-paths.ts";
import { removeDrafts } from "./private-file.ts";
import { prepareSocketPaths, removeSocketDirectory, type SocketPaths } from "./socket-paths.ts";

/** A home that this process holds until it closes the home or exits. */
export interface Home {
  readonly path: string;
  readonly paths: HomePaths;
  readonly sockets: SocketPaths;
  readonly tokens: BearerTokens;
  close(): Promise<void>;
}

export interface OpenHomeOptions {
  readonly path: string;
  /** Shown to other processes that find the home in use. */
  readonly command: string;
  /** Version of the kernel that other processes can connect to. */
  readonly version?: string;
  /** Version of the protocol on its sockets. */
  readonly protocol?: number;
  /** See `Holder`. */
  readonly onDemand?: boolean;
  /** How long to wait for another process to release the home. */
  readonly waitMs: number;
}

/** Opens a home for this process; creates it if it does not exist. */
export async function openHome(options: OpenHomeOptions): Promise<Home> {
  try {
    return await open(options);
  } catch (fault) {
    const problem = `the home \`${options.path.slice(0, 300)}\` cannot be used`;
    // For an existing home on a disk that became read-only, the path is not the problem.
    throw systemErrorCode(fault) === "EROFS" ? storeUnavailable(problem, fault) : pathUnusable(problem, fault);
  }
}

async function open(options: OpenHomeOptions): Promise<Home> {
  const path = await openNamedDirectory(options.path);
  const paths = homePaths(path);
  for (const directory of [paths.run, paths.policy, paths.keys, paths.merkle, paths.store, paths.content]) {
    await openPrivateDirectory(directory);
  }
  const { command, version = "", protocol = 0, onDemand = false, waitMs } = options;
  const lock = await lockHome(paths, { command, version, protocol, onDemand }, waitMs);
  try {
    await removeDrafts(paths.run);
    const sockets = await prepareSocketPaths(paths);
    const tokens = await issueBearerTokens(paths);
    // Releases only once: a later file would belong to another process.
    let released: Promise<void> | undefined;
    const close = (): Promise<void> => (released ??= release(lock, paths, sockets));
    return { path, paths, sockets, tokens, close };
  } catch (fault) {
    await lock.release();
    throw fault;
  }
}

async function release(lock: HomeLock, paths: HomePaths, sockets: SocketPaths): Promise<void> {
  try {
    await removeSocketDirectory(paths, sockets);
  } finally {
    await lock.release();
  }
}
