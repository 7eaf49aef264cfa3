import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const O_PATH = 0o10000000;
const MAX_TRIES = 40;

/** What was found at a path, held open. */
export interface Found {
  readonly kind: "directory" | "file" | "link" | "other";
  readonly device: bigint;
  readonly inode: bigint;
  /** Of a link. */
  readonly target: string | undefined;
  readonly mode: number;
  /** How many names it has. */
  readonly links: number;
  /** Of a file with several names, which a mount over one of them does not guard: what is in it. */
  readonly content?: Buffer | undefined;
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

  /** Undefined if there is nothing of that name. Somebody who exchanges it all the time is given up on. */
  async look(name: string): Promise<Found | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await this.#lookOnce(name);
      if (found !== "exchanged") return found;
    }
    throw new KernelError("SANDBOX_ERROR", "a protected path is being replaced all the time");
  }

  async #lookOnce(name: string): Promise<Found | undefined | "exchanged"> {
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
      const { dev: device, ino: inode } = facts;
      const found = { kind, device, inode, mode: Number(facts.mode) & 0o7777, links: Number(facts.nlink) } as const;
      if (kind !== "link") return { ...found, target: undefined };
      const target = await readlink(`${this.#path}/${name}`, "latin1").catch(() => undefined);
      // A link that is held cannot be read, only its name can: which must still be that of the same link.
      const now = await lstat(`${this.#path}/${name}`, { bigint: true }).catch(() => undefined);
      const isSame = target !== undefined && now?.ino === inode && now.dev === device;
      return isSame ? { ...found, target } : "exchanged";
    } finally {
      await handle.close();
    }
  }

  /** Undefined if there is no such directory, or a link in its place. */
  async enter(name: string): Promise<HeldDirectory | undefined> {
    const handle = await openIfThere(`${this.#path}/${name}`, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    return handle && new HeldDirectory(handle);
  }

  /** The same for a path of several names; undefined if a part of it is missing or no directory. */
  async lookAt(path: string): Promise<Found | undefined> {
    return await this.#at(path, (directory, name) => directory.look(name));
  }

  async namesAt(path: string): Promise<string[] | undefined> {
    return await this.#at(path, async (directory, name) => {
      const entered = await directory.enter(name);
      try {
        return await entered?.names();
      } finally {
        await entered?.close();
      }
    });
  }

  /** The beginning of a regular file, as text. */
  async readAt(path: string, maxBytes: number): Promise<string | undefined> {
    return await this.#at(path, async (directory, name) => (await directory.read(name, maxBytes))?.toString("utf8"));
  }

  async #at<T>(
    path: string,
    use: (directory: HeldDirectory, name: string) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const parts = path.split("/");
    const held: HeldDirectory[] = [];
    try {
      for (const part of parts.slice(0, -1)) {
        const next = await (held.at(-1) ?? this).enter(part);
        if (next === undefined) return undefined;
        held.push(next);
      }
      return await use(held.at(-1) ?? this, parts.at(-1) ?? "");
    } finally {
      await Promise.all(held.map((one) => one.close()));
    }
  }

  /** The beginning of a regular file. */
  async read(name: string, maxBytes: number): Promise<Buffer | undefined> {
    const handle = await openIfThere(`${this.#path}/${name}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (handle === undefined) return undefined;
    try {
      if (!(await handle.stat()).isFile()) return undefined;
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
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

const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENXIO"]);
