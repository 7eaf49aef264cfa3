import { chmod, lstat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { dirname } from "node:path";
import { KernelError } from "@narthex/contracts";

/**
 * Length of the queue of connections to be accepted; a burst of unauthenticated connections must not turn clients away.
 */
export const LISTEN_BACKLOG = 4096;
/** Maximum length of a unix socket's path, in bytes, on every system. */
const MAX_SOCKET_PATH_BYTES = 103;

/** Listens on a unix socket that only its owner can open. Replaces a socket file without a listener. */
export async function listenUnix(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
    throw new KernelError("CONFIG_INVALID", `socket path \`${path.slice(0, 120)}\` is too long; use a shorter one`);
  }
  await requirePrivateDirectory(dirname(path));
  try {
    await listenAt(server, path);
  } catch (error) {
    if (!hasCode(error, "EADDRINUSE")) throw unreachable(path, error);
    await removeStaleSocket(path);
    await listenAt(server, path).catch((again: unknown) => {
      throw unreachable(path, again);
    });
  }
  await chmod(path, 0o600);
}

/**
 * SECURITY: between bind and chmod the socket has the process's umask; the directory keeps other users out meanwhile.
 */
async function requirePrivateDirectory(directory: string): Promise<void> {
  const stats = await lstat(directory).catch((error: unknown) => {
    throw unreachable(directory, error);
  });
  const foreign = process.getuid !== undefined && stats.uid !== process.getuid();
  if (!stats.isDirectory() || foreign || (stats.mode & 0o077) !== 0) {
    throw new KernelError("HOME_UNSAFE", `\`${directory}\` must be a directory of yours with mode 0700; run chmod 700`);
  }
}

function listenAt(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => reject(error);
    server.once("error", failed);
    server.listen({ path, backlog: LISTEN_BACKLOG }, () => {
      server.off("error", failed);
      resolve();
    });
  });
}

async function removeStaleSocket(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return;
  if (!stats.isSocket()) {
    throw new KernelError("HOME_UNSAFE", `\`${path}\` is in the way and is no socket; move it away`);
  }
  if (await isListening(path)) {
    throw new KernelError("HOME_BUSY", `another process answers on \`${path}\`; stop it first`);
  }
  await unlink(path);
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    // Any error but a plain refusal (a full backlog, for example) means that a process listens.
    socket.once("error", (error) => resolve(!hasCode(error, "ECONNREFUSED") && !hasCode(error, "ENOENT")));
  });
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function unreachable(path: string, cause: unknown): KernelError {
  return new KernelError("HOME_UNSAFE", `cannot open a socket at \`${path}\`; check that its directory exists`, {
    cause,
  });
}
