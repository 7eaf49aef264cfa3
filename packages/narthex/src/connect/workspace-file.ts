import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, readlink, realpath, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { CommandError } from "../terminal/command-error.ts";

/** A file of a workspace, as it was read. */
export interface WorkspaceFile {
  /** Name relative to the workspace. */
  readonly name: string;
  /** Real path, with symbolic links resolved. */
  readonly path: string;
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
  readonly stats: Stats | undefined;
  /** Directories missing on the path, outermost first. */
  readonly missing: readonly string[];
}

const MAX_BYTES = 1024 * 1024;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Finds a file in a workspace, given the workspace's real path.
 *
 * SECURITY: a repository is untrusted. A link in it that leads outside would make this command write to the user's own
 * files, so real paths are compared, including directories.
 */
export async function readWorkspaceFile(workspace: string, name: string): Promise<WorkspaceFile> {
  const missing: string[] = [];
  let directory = workspace;
  for (const part of dirname(name).split("/")) {
    if (part === ".") continue;
    const next = join(directory, part);
    if (missing.length > 0 || (await linkStats(next)) === undefined) missing.push(next);
    directory = missing.length > 0 ? next : await resolveInside(workspace, next, name);
    if (missing.length === 0 && !(await lstat(directory)).isDirectory())
      throw refused(name, `\`${part}\` is no directory`);
  }
  const place = join(directory, basename(name));
  if (missing.length > 0 || (await linkStats(place)) === undefined) {
    return { name, path: place, text: undefined, stats: undefined, missing };
  }
  const path = await resolveInside(workspace, place, name);
  return { name, path, missing, ...(await readText(path, name)) };
}

/** Replaces the file atomically: readers see either the old or the new text. Keeps mode and owner. */
export async function writeWorkspaceFile(file: WorkspaceFile, text: string): Promise<void> {
  for (const directory of file.missing) await makeDirectory(directory, file.name);
  await withHeldDirectory(file, (directory) => replace(file, text, directory));
}

async function replace(file: WorkspaceFile, text: string, directory: string): Promise<void> {
  const path = join(directory, basename(file.path));
  const draft = join(directory, `.${basename(file.path)}.${randomUUID()}`);
  try {
    const handle = await open(draft, "wx", 0o644);
    try {
      await handle.writeFile(text);
      if (file.stats !== undefined) {
        await handle.chmod(file.stats.mode & 0o7777);
        if (file.stats.uid !== process.getuid?.()) await handle.chown(file.stats.uid, file.stats.gid);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await refuseChanged({ ...file, path });
    await rename(draft, path);
  } catch (fault) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw fault;
  }
}

/** Removes the file, and then those of `directories` that are empty, innermost first. */
export async function removeWorkspaceFile(file: WorkspaceFile, directories: readonly string[]): Promise<void> {
  await withHeldDirectory(file, async (directory) => {
    const path = join(directory, basename(file.path));
    await refuseChanged({ ...file, path });
    await rm(path);
  });
  for (const directory of directories.toReversed()) {
    try {
      await rmdir(directory);
    } catch {
      // The directory holds other files now: it stays, and so do all its parents.
      return;
    }
  }
}

/**
 * SECURITY: root may run this in another user's workspace, and that user can replace a directory by a link at any
 * moment. The file's directory is held open and must still be where it was found; the name passed to `use` refers to it
 * whatever happens to its path.
 */
async function withHeldDirectory(file: WorkspaceFile, use: (directory: string) => Promise<void>): Promise<void> {
  const held = await open(dirname(file.path), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    (fault: unknown) => {
      throw refused(file.name, "its directory cannot be opened", fault);
    },
  );
  try {
    const directory = `/proc/self/fd/${held.fd}`;
    if ((await readlink(directory)) !== dirname(file.path)) throw refused(file.name, "its directory was exchanged");
    await use(directory);
  } finally {
    await held.close();
  }
}

/** Another file of the same plan may have created it already. */
async function makeDirectory(path: string, name: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (fault) {
    // SECURITY: does not follow a link that was created in the meantime.
    if ((await linkStats(path))?.isDirectory() !== true) throw refused(name, `\`${path}\` cannot be made`, fault);
  }
}

async function refuseChanged({ name, path, text }: WorkspaceFile): Promise<void> {
  const now = (await linkStats(path)) === undefined ? undefined : (await readText(path, name)).text;
  if (now !== text) throw refused(name, "somebody changed it meanwhile; run the command again");
}

async function resolveInside(workspace: string, path: string, name: string): Promise<string> {
  const real = await realpath(path).catch(() => {
    throw refused(name, "a link on the way leads nowhere");
  });
  const way = relative(workspace, real);
  if (way === "" || way === ".." || way.startsWith(`..${sep}`)) {
    throw refused(name, `a link on the way leads out of the workspace, to \`${real}\``);
  }
  return real;
}

async function readText(path: string, name: string): Promise<{ readonly text: string; readonly stats: Stats }> {
  // Opening a named pipe must not wait for a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw refused(name, "it is no file");
    if (stats.size > MAX_BYTES) throw refused(name, `it holds more than ${MAX_BYTES} bytes`);
    return { text: decode(await handle.readFile(), name), stats };
  } finally {
    await handle.close();
  }
}

function decode(bytes: Uint8Array, name: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw refused(name, "it is no text in UTF-8");
  }
}

async function linkStats(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return undefined;
    throw fault;
  }
}

function refused(name: string, why: string, cause?: unknown): CommandError {
  return new CommandError("CONFIG_INVALID", `\`${name}\` is left as it is: ${why}`, {
    cause,
    next: "nothing was changed; put the file right, then run the command again",
  });
}
