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

/** Pipe for one output of a child: the kernel's reading end, and the file that the child is started with. */
export interface OutputPipe {
  readonly output: Readable;
  /** Close it here once the child has it. */
  readonly file: FileHandle;
  /** Allows the pipe to be reused; call it when all processes of the child have ended. */
  release(): void;
}

/**
 * Pool of real pipes for the output of children. Node gives children sockets, which cannot be reopened by name: `>
 * /dev/stderr` fails on them. Node has no call that creates a pipe, so named pipes are created in batches and reused.
 * Input has no such pipe: a child that reopened it by name would wait for a second writer.
 *
 * SECURITY: only the kernel can enter their directory: a child has the descriptors it was started with, and can reopen
 * only those. A pipe is reused once no process holds it and the kernel's end is closed. A child can see a pipe's path,
 * so the path reveals nothing and is not in the kernel's home.
 */
export class NamedPipes {
  readonly #note: string;
  #directory: Promise<string> | undefined;
  #free: string[] = [];
  #making: Promise<void> | undefined;

  /** Returns the pool for a note file: shared by all who start children from the same directory. */
  static at(note: string): NamedPipes {
    const known = KNOWN.get(note) ?? new NamedPipes(note);
    KNOWN.set(note, known);
    return known;
  }

  /** `note`: a private file with the directory of the pipes, for cleanup after a crash. */
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
    // Open the reading end first, so that opening the writing end does not block.
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
    // The child's user must be able to reopen its own output.
    await make("/usr/bin/mkfifo", ["-m", "666", ...names], { env: {} });
    this.#free.push(...names);
  }
}

const PREFIX = join(tmpdir(), "narthex-pipes-");

/** Creates a new directory and removes the one that a killed kernel left. */
async function openDirectory(note: string): Promise<string> {
  await mkdir(dirname(note), { recursive: true, mode: 0o700 });
  const left = await readFile(note, "utf8").catch(() => "");
  // SECURITY: the system may have removed the directory since, and another user may have created one of that name.
  if (left.startsWith(PREFIX) && dirname(left) === dirname(PREFIX)) tryToRemoveOwnTree(left);
  const directory = await mkdtemp(PREFIX);
  await writeFile(note, directory, { mode: 0o600 });
  return directory;
}

/** Plain descriptors: the socket that is created from one closes it. */
const openNumber = promisify(openFile);
const closeNumber = promisify(closeFile);
