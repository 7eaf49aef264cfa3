import { constants } from "node:fs";
import { chmod, type FileHandle, lstat, open, readdir, readlink } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";
import { nameFromBytes, nameToBytes } from "./file-name.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const O_PATH = 0o10000000;
const MAX_TRIES = 40;
const MAX_CHUNK_BYTES = 1024 * 1024;
/** Permissions that an owner needs to list and enter a directory. */
const OWNER_SEES = 0o500;
const OWNER_ALL = 0o700;

/** Facts about a path, read from an open file descriptor. */
export interface FoundEntry {
  readonly kind: "directory" | "file" | "link" | "other";
  readonly device: bigint;
  readonly inode: bigint;
  /** Target of a link. */
  readonly target: string | undefined;
  readonly mode: number;
  /** Number of hard links. */
  readonly links: number;
  /** Content of a file with several hard links, where a mount over one of them is no protection. */
  readonly content?: Buffer | undefined;
}

export interface WalkOptions {
  /**
   * For directories that a program left behind: grants the owner access to those it cannot read, and never fails
   * because of what is found.
   *
   * SECURITY: permissions are changed through the open descriptor. The owner gains nothing that it could not do itself.
   */
  readonly opensClosed?: boolean;
}

/**
 * An open directory of a workspace.
 *
 * SECURITY: every step descends by one name from an open directory and follows no link, so no step can leave the
 * workspace, whatever an agent replaces meanwhile. Names are bytes: see `nameFromBytes`.
 */
export class HeldDirectory {
  readonly #handle: FileHandle;
  readonly #options: WalkOptions;

  private constructor(handle: FileHandle, options: WalkOptions) {
    this.#handle = handle;
    this.#options = options;
  }

  static async open(path: string, options: WalkOptions = {}): Promise<HeldDirectory> {
    const directory = new HeldDirectory(await open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW), options);
    await directory.#openToOwner();
    return directory;
  }

  /** Returns no names if the directory cannot be listed: see `isClosed`. */
  async names(): Promise<string[]> {
    try {
      return (await readdir(this.#path, "buffer")).map(nameFromBytes);
    } catch (fault) {
      if (isAbsent(fault)) return [];
      throw fault;
    }
  }

  /** Whether its owner or this process cannot list and enter it. */
  async isClosed(): Promise<boolean> {
    if (process.geteuid?.() === 0) return ((await this.#handle.stat()).mode & OWNER_SEES) !== OWNER_SEES;
    const listed = await openIfThere(Buffer.from(this.#path), O_RDONLY | O_DIRECTORY);
    await listed?.close();
    if (listed === undefined) return true;
    const entered = await openIfThere(this.#at("."), O_PATH);
    await entered?.close();
    return entered === undefined;
  }

  /** Returns undefined if the name does not exist. */
  async inspect(name: string): Promise<FoundEntry | undefined> {
    for (let tries = 0; ; tries++) {
      const found = await this.#lookOnce(name);
      if (found?.isExchanged !== true) return found;
      if (tries < MAX_TRIES) continue;
      if (this.#options.opensClosed === true) return found;
      throw new KernelError("SANDBOX_ERROR", "a protected path is being replaced all the time");
    }
  }

  async #lookOnce(name: string): Promise<(FoundEntry & { readonly isExchanged?: boolean }) | undefined> {
    const path = this.#at(name);
    const handle = await openIfThere(path, O_PATH | O_NOFOLLOW);
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
      const target = await readlink(path, "latin1").catch(() => undefined);
      // A link cannot be read through its descriptor, only by name: check that the name still refers to the same link.
      const now = await lstat(path, { bigint: true }).catch(() => undefined);
      const isSame = target !== undefined && now?.ino === inode && now.dev === device;
      return isSame ? { ...found, target } : { ...found, target: undefined, isExchanged: true };
    } finally {
      await handle.close();
    }
  }

  /** Returns undefined if there is no such directory, or if it is a link. */
  async enter(name: string): Promise<HeldDirectory | undefined> {
    const handle = await openIfThere(this.#at(name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (handle === undefined) return undefined;
    const entered = new HeldDirectory(handle, this.#options);
    await entered.#openToOwner();
    return entered;
  }

  /** As `inspect`, for a path of several names; undefined if a parent is missing or not a directory. */
  async inspectAt(path: string): Promise<FoundEntry | undefined> {
    return await this.#below(path, (directory, name) => directory.inspect(name));
  }

  async namesAt(path: string): Promise<string[] | undefined> {
    return await this.#below(path, async (directory, name) => {
      const entered = await directory.enter(name);
      try {
        return await entered?.names();
      } finally {
        await entered?.close();
      }
    });
  }

  /** Returns the names and kinds of a directory's entries from the listing alone. */
  async kindsAt(path: string): Promise<ReadonlyMap<string, "directory" | "link" | "other"> | undefined> {
    return await this.#below(path, async (directory, name) => {
      const entered = await directory.enter(name);
      try {
        return await entered?.kinds();
      } finally {
        await entered?.close();
      }
    });
  }

  async kinds(): Promise<ReadonlyMap<string, "directory" | "link" | "other">> {
    const entries = await readdir(this.#path, { withFileTypes: true, encoding: "buffer" }).catch(() => []);
    return new Map(
      entries.map((entry) => [
        nameFromBytes(entry.name),
        entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "other",
      ]),
    );
  }

  /** Reads the first bytes of a regular file as text. */
  async readAt(path: string, maxBytes: number): Promise<string | undefined> {
    return await this.#below(path, async (directory, name) => (await directory.read(name, maxBytes))?.toString("utf8"));
  }

  /** Reads a regular file in chunks; yields nothing if it is missing. A chunk is valid until the next one is read. */
  async *chunksAt(path: string): AsyncGenerator<Buffer> {
    const open = (directory: HeldDirectory, name: string): Promise<FileHandle | undefined> =>
      openIfThere(directory.#at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const handle = await this.#below(path, open);
    if (handle === undefined) return;
    try {
      const facts = await handle.stat();
      if (!facts.isFile()) return;
      const buffer = Buffer.alloc(Math.min(MAX_CHUNK_BYTES, facts.size));
      for (let at = 0; at < facts.size; ) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
        at += bytesRead;
      }
    } finally {
      await handle.close();
    }
  }

  async #below<T>(
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

  /** Reads the first bytes of a regular file. */
  async read(name: string, maxBytes: number): Promise<Buffer | undefined> {
    const handle = await openIfThere(this.#at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
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

  async #openToOwner(): Promise<void> {
    if (this.#options.opensClosed !== true) return;
    const { mode } = await this.#handle.stat();
    if ((mode & OWNER_SEES) === OWNER_SEES) return;
    // This may fail for a directory of another user, which no program of this workspace can have closed.
    await chmod(this.#path, (mode & 0o7777) | OWNER_ALL).catch(() => undefined);
  }

  #at(name: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.#path}/`), nameToBytes(name)]);
  }

  get #path(): string {
    return `/proc/self/fd/${this.#handle.fd}`;
  }
}

async function openIfThere(path: Buffer, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (fault) {
    if (isAbsent(fault)) return undefined;
    throw fault;
  }
}

function isAbsent(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && ABSENT.has(String(fault.code));
}

const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENXIO", "ENAMETOOLONG"]);
