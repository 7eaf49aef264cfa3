import { constants } from "node:fs";
import { type FileHandle, open, readdir, readlink } from "node:fs/promises";

const { O_DIRECTORY, O_NOFOLLOW } = constants;
const O_PATH = 0o10000000;

/** What was found at a path, held open. */
export interface Found {
  readonly kind: "directory" | "file" | "link" | "other";
  readonly device: bigint;
  readonly inode: bigint;
  /** Of a link. */
  readonly target: string | undefined;
}

/**
 * A directory of a workspace, held open.
 *
 * SECURITY: every step goes one name down from what is held, and follows no link: whatever an agent swaps meanwhile, no
 * step leads out of the workspace. Nothing is read but names and what they are.
 */
export class HeldDirectory {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(path: string): Promise<HeldDirectory> {
    return new HeldDirectory(await open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  }

  async names(): Promise<string[]> {
    return await readdir(this.#path);
  }

  /** Undefined if there is nothing of that name. */
  async look(name: string): Promise<Found | undefined> {
    const handle = await openIfThere(`${this.#path}/${name}`, O_PATH | O_NOFOLLOW);
    if (handle === undefined) return undefined;
    try {
      const facts = await handle.stat({ bigint: true });
      const kind = facts.isDirectory()
        ? "directory"
        : facts.isFile()
          ? "file"
          : facts.isSymbolicLink()
            ? "link"
            : "other";
      const target = kind === "link" ? await readlink(`${this.#path}/${name}`, "latin1") : undefined;
      return { kind, device: facts.dev, inode: facts.ino, target };
    } finally {
      await handle.close();
    }
  }

  /** Undefined if there is no such directory, or a link in its place. */
  async enter(name: string): Promise<HeldDirectory | undefined> {
    const handle = await openIfThere(`${this.#path}/${name}`, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    return handle && new HeldDirectory(handle);
  }

  async facts(): Promise<{ readonly device: bigint; readonly inode: bigint }> {
    const { dev, ino } = await this.#handle.stat({ bigint: true });
    return { device: dev, inode: ino };
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  get #path(): string {
    return `/proc/self/fd/${this.#handle.fd}`;
  }
}

async function openIfThere(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && ABSENT.has(String(fault.code))) return undefined;
    throw fault;
  }
}

const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);
