import { constants } from "node:fs";
import { chown, type FileHandle, open, readdir, readFile, readlink } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";
import { systemErrorCode } from "../system/system-error.ts";
import type { SandboxIdentity } from "./sandbox-plan.ts";

const O_PATH = 0o10000000;
const HOLD = O_PATH | constants.O_NOFOLLOW;
/** Maximum number of paths named in a report; the rest are counted. */
const MAX_NAMED = 20;

export interface AdoptedTree {
  readonly adopted: number;
  /** Entries of root that stayed root's: files with several hard links, entries on another mount, special files. */
  readonly left: number;
  /** The first of these paths, relative to the workspace. */
  readonly leftPaths: readonly string[];
}

/**
 * Changes the owner of a root-owned workspace, the directory and its content, to the user that sandboxes run as.
 *
 * SECURITY: in a directory that others can write, they can replace entries at any moment. Every entry is opened by one
 * name from an open directory, without following a link; it is checked and its owner is changed through the same
 * descriptor. Only files and directories of root are changed: a file with a second hard link may be used outside, and a
 * mount is not part of the workspace. Tested by "hands over nothing that is exchanged for a link meanwhile".
 */
export async function adoptWorkspace(workspace: string, identity: SandboxIdentity): Promise<AdoptedTree> {
  const root = await open(workspace, HOLD).catch(() => undefined);
  if (root === undefined) throw new KernelError("WORKSPACE_REFUSED", `\`${workspace}\` cannot be opened`);
  try {
    const facts = await root.stat();
    if (!facts.isDirectory()) throw new KernelError("WORKSPACE_REFUSED", "only a directory can be adopted");
    if ((await readlink(pathOf(root))) !== workspace) {
      throw new KernelError("PATH_ESCAPE", `the workspace \`${workspace.slice(0, 200)}\` is reached by a link now`);
    }
    if (facts.uid !== 0) return { adopted: 0, left: 0, leftPaths: [] };
    const adoption = new Adoption(identity, await mountOf(root));
    await adoption.takeDirectory(root, "");
    return adoption.report;
  } finally {
    await root.close();
  }
}

class Adoption {
  readonly #identity: SandboxIdentity;
  readonly #mount: string;
  #adopted = 0;
  #left = 0;
  readonly #leftPaths: string[] = [];

  constructor(identity: SandboxIdentity, mount: string) {
    this.#identity = identity;
    this.#mount = mount;
  }

  get report(): AdoptedTree {
    return { adopted: this.#adopted, left: this.#left, leftPaths: this.#leftPaths };
  }

  /** Changes the entries first: the sandbox's user cannot replace them while root still owns the directory. */
  async takeDirectory(directory: FileHandle, path: string): Promise<void> {
    for (const name of await readdir(pathOf(directory), "buffer")) {
      const entry = await openEntry(directory, name);
      if (entry === undefined) continue;
      try {
        await this.#take(entry, path === "" ? name.toString() : `${path}/${name.toString()}`);
      } finally {
        await entry.close();
      }
    }
    await this.#handOver(directory);
  }

  async #take(entry: FileHandle, path: string): Promise<void> {
    const facts = await entry.stat();
    if (facts.uid !== 0 || facts.isSymbolicLink()) return;
    if ((await mountOf(entry)) !== this.#mount) this.#leave(path);
    else if (facts.isDirectory()) await this.takeDirectory(entry, path);
    else if (facts.isFile() && facts.nlink === 1) await this.#handOver(entry);
    else this.#leave(path);
  }

  #leave(path: string): void {
    this.#left++;
    if (this.#leftPaths.length < MAX_NAMED) this.#leftPaths.push(path);
  }

  /** The system clears setuid bits and file capabilities when the owner changes. */
  async #handOver(entry: FileHandle): Promise<void> {
    await chown(pathOf(entry), this.#identity.uid, this.#identity.gid);
    this.#adopted++;
  }
}

/** Returns undefined if the entry no longer exists. */
async function openEntry(directory: FileHandle, name: Buffer): Promise<FileHandle | undefined> {
  try {
    return await open(Buffer.concat([Buffer.from(`${pathOf(directory)}/`), name]), HOLD);
  } catch (fault) {
    if (systemErrorCode(fault) === "ENOENT") return undefined;
    throw fault;
  }
}

/** Returns a path that refers to the open file, whatever its name is now. */
function pathOf({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

/** Returns the mount id, because one device can be mounted twice. */
async function mountOf({ fd }: FileHandle): Promise<string> {
  const mount = /^mnt_id:\s*(\d+)$/m.exec(await readFile(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
  if (mount === undefined) throw new KernelError("WORKSPACE_REFUSED", "the mount of a file cannot be found out");
  return mount;
}
