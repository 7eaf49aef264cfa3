import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { close as closeFile, constants, open as openFile } from "node:fs";
import { type FileHandle, mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { tryToRemoveOwnTree } from "../system/remove-own-tree.ts";

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const MADE_AT_ONCE = 32;
const KNOWN = new Map<string, NamedPipes>();
const make = promisify(execFile);

/** What one child prints to: our end, and the file it is started with. */
export interface OutputPipe {
  readonly output: Readable;
  /** To be closed here once the child has it. */
  readonly file: FileHandle;
  /** Gives the pipe back once nothing of the child runs any more. */
  release(): void;
}

/**
 * Real pipes for what children print. Node starts children with sockets, which cannot be opened again by name: on them
 * `> /dev/stderr` fails. Node has no call that makes a pipe, so they are made with names, a batch at a time, and used
 * again. For what children read there is no such pipe: opened again by name it would wait for a second writer.
 *
 * SECURITY: their directory is the kernel's alone: a child has of a pipe what it was started with, and can open again only
 * that. A pipe goes to the next child when no process holds it any more, and our end is closed. A child can see a pipe's
 * path, so it lies where it gives nothing away, and not in the kernel's home.
 */
export class NamedPipes {
  readonly #note: string;
  #directory: Promise<string> | undefined;
  #free: string[] = [];
  #making: Promise<void> | undefined;

  /** Those whose note is there: one for all who start children from the same place. */
  static at(note: string): NamedPipes {
    const known = KNOWN.get(note) ?? new NamedPipes(note);
    KNOWN.set(note, known);
    return known;
  }

  /** `note` is a file of the kernel's own that says where the pipes are, for whoever comes after a crash. */
  private constructor(note: string) {
    this.#note = note;
  }

  async close(): Promise<void> {
    KNOWN.delete(this.#note);
    const directory = await this.#directory;
    if (directory === undefined) return;
    this.#free = [];
    tryToRemoveOwnTree(directory);
    await rm(this.#note, { force: true });
  }

  async take(): Promise<OutputPipe> {
    const name = await this.#name();
    // Opened first, so that opening the other end need not wait.
    const ours = await openNumber(name, O_RDONLY | O_NONBLOCK);
    const file = await open(name, O_WRONLY).catch(async (fault: unknown) => {
      await closeNumber(ours);
      throw fault;
    });
    const output = new Socket({ fd: ours, readable: true, writable: false });
    let isClosed = false;
    let isReleased = false;
    const giveBack = (): void => {
      if (isClosed && isReleased) this.#free.push(name);
    };
    output.on("error", () => undefined);
    output.once("close", () => {
      isClosed = true;
      giveBack();
    });
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      giveBack();
    };
    return { output, file, release };
  }

  async #name(): Promise<string> {
    for (;;) {
      const name = this.#free.pop();
      if (name !== undefined) return name;
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined;
      });
      await this.#making;
    }
  }

  async #make(): Promise<void> {
    this.#directory ??= openDirectory(this.#note);
    const directory = await this.#directory;
    const batch = randomBytes(6).toString("hex");
    const names = Array.from({ length: MADE_AT_ONCE }, (_, index) => join(directory, `${batch}-${index}`));
    // Whoever the child runs as must be able to open its own output again.
    await make("/usr/bin/mkfifo", ["-m", "666", ...names], { env: {} });
    this.#free.push(...names);
  }
}

const PREFIX = join(tmpdir(), "narthex-pipes-");

/** A new directory; that of a kernel that was killed is taken away. */
async function openDirectory(note: string): Promise<string> {
  await mkdir(dirname(note), { recursive: true, mode: 0o700 });
  const left = await readFile(note, "utf8").catch(() => "");
  // SECURITY: the system may have removed it since, and another user may have taken its name.
  if (left.startsWith(PREFIX) && dirname(left) === dirname(PREFIX)) tryToRemoveOwnTree(left);
  const directory = await mkdtemp(PREFIX);
  await writeFile(note, directory, { mode: 0o600 });
  return directory;
}

/** Bare numbers: the socket that is made of one closes it. */
const openNumber = promisify(openFile);
const closeNumber = promisify(closeFile);
