import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";

/** One program of a call, as it is noted before it begins. */
interface StartedProgram {
  readonly call: string;
  /** The first process of its own process namespace, by its number outside; 0 where the end of it could not be proven. */
  readonly pid: number;
  /** When that process began, in ticks since the machine did: no other process has the same number and time. */
  readonly startTime: string;
}

/** How long a start waits for the programs of a kernel that was just killed: they are killed with it. */
const MAX_DYING_MS = 3000;
const DYING_POLL_MS = 10;
const FORMAT = "narthex programs 1";
/** A file that has grown beyond this is written again with the calls that have not ended. */
const MAX_FILE_BYTES = 256 * 1024;

/**
 * The programs that this kernel has started, in a file of the home for the kernel that follows one that was killed.
 *
 * SECURITY: a call is run again because of what is proven here, so everything that is not known counts as running.
 * - A program is held back until it is noted (`beforeRelease`), also if the kernel dies meanwhile: see `gatedCommand`. So a
 *   program that is not in the file of its kernel has run nothing.
 * - What is noted is the first process of the program's own process namespace. When that one is gone or waits to be
 *   collected, the system has ended and collected every other process in it, also those that detached.
 * - A number that was given to another process since is told by the time at which that began. Numbers and times compare only
 *   within the same start of the machine and the same namespaces; after another start everything is gone.
 * - Nothing need be flushed to the disk: what was written survives the process, and nothing survives the machine.
 * - No sandbox reaches the home.
 */
export class StartedPrograms {
  readonly #directory: string;
  readonly #maxDyingMs: number;
  #opened: Promise<OpenedFile> | undefined;
  /** What the file says of calls that have not ended. */
  readonly #lines = new Map<string, string>();
  #bytes = 0;
  /** Writes go one after the other. */
  #work: Promise<void> = Promise.resolve();

  constructor(directory: string, maxDyingMs = MAX_DYING_MS) {
    this.#directory = directory;
    this.#maxDyingMs = maxDyingMs;
  }

  /** Names this kernel's file, the machine's start and the namespaces, for the intents of calls. */
  async run(): Promise<string> {
    return (await this.#open()).run;
  }

  /** Writes down a program that is held back. Throws STORE_UNAVAILABLE where that fails. */
  async note(call: string, pid: number): Promise<void> {
    await this.#write({ call, pid, startTime: await startTimeOfFirst(pid) });
  }

  /** From now on nothing can be proven about this call. */
  async noteUnproven(call: string): Promise<void> {
    await this.#write({ call, pid: 0, startTime: "" });
  }

  /** The call's outcome is recorded: nothing about it is needed any more. */
  endCall(call: string): void {
    this.#lines.delete(call);
  }

  /** Whether every program that a kernel started for a call is proven to have ended. */
  async haveEnded(run: string, call: string): Promise<boolean> {
    const [boot = "", processes = "", times = "", name = ""] = run.split(" ");
    const here = await machineFacts();
    if (here === undefined || !BOOT.test(boot) || !NAME.test(name)) return false;
    if (boot !== here.boot) return true;
    if (processes !== here.processes || times !== here.times) return false;
    const started = await readStarted(join(this.#directory, name));
    const own = started?.filter((program) => program.call === call);
    return own !== undefined && (await areGone(own, this.#maxDyingMs));
  }

  /** Removes the files of earlier kernels, but for those that are named. */
  async forget(except: ReadonlySet<string>): Promise<void> {
    const own = this.#opened && (await this.#opened.catch(() => undefined))?.run;
    const kept = new Set([...except, own ?? ""].map((run) => run.split(" ").at(-1)));
    const names = await readdir(this.#directory).catch(() => []);
    for (const name of names) if (NAME.test(name) && !kept.has(name)) await rm(join(this.#directory, name));
  }

  async close(): Promise<void> {
    await this.#work;
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.file.close();
  }

  #open(): Promise<OpenedFile> {
    this.#opened ??= this.#create();
    this.#opened.catch(() => (this.#opened = undefined));
    return this.#opened;
  }

  async #create(): Promise<OpenedFile> {
    const here = await machineFacts();
    if (here === undefined) throw new KernelError("SANDBOX_ERROR", "the system does not say when it was started");
    const name = randomBytes(16).toString("hex");
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const file = await open(join(this.#directory, name), "ax", 0o600);
    await file.write(`${FORMAT}\n`);
    return { run: [here.boot, here.processes, here.times, name].join(" "), name, file };
  }

  #write(program: StartedProgram): Promise<void> {
    const line = `${JSON.stringify(program)}\n`;
    const writing = this.#work.then(async () => {
      try {
        const opened = await this.#open();
        // INVARIANT: one write a line, so that a kernel that is killed leaves whole lines.
        const { bytesWritten } = await opened.file.write(line);
        if (bytesWritten !== Buffer.byteLength(line)) throw new TypeError("the line was cut");
        this.#lines.set(program.call, (this.#lines.get(program.call) ?? "") + line);
        this.#bytes += bytesWritten;
        if (this.#bytes > MAX_FILE_BYTES) await this.#shorten(opened);
      } catch (cause) {
        const message = "a program could not be noted in the kernel's home, so it was not run";
        throw new KernelError("STORE_UNAVAILABLE", message, { cause });
      }
    });
    this.#work = writing.catch(() => undefined);
    return writing;
  }

  async #shorten(opened: OpenedFile): Promise<void> {
    const path = join(this.#directory, opened.name);
    const text = [`${FORMAT}\n`, ...this.#lines.values()].join("");
    await writeFile(`${path}.draft`, text, { mode: 0o600 });
    await rename(`${path}.draft`, path);
    const file = await open(path, "a");
    this.#opened = Promise.resolve({ ...opened, file });
    // What is left is what it begins with: many calls that run at once do not have it written again and again.
    this.#bytes = Math.min(text.length, MAX_FILE_BYTES / 2);
    await opened.file.close();
  }
}

interface OpenedFile {
  readonly run: string;
  readonly name: string;
  readonly file: FileHandle;
}

const BOOT = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NAME = /^[0-9a-f]{32}$/;

interface MachineFacts {
  readonly boot: string;
  /** The process and the time namespace that this kernel is in. */
  readonly processes: string;
  readonly times: string;
}

/** Undefined where the system does not tell them. */
async function machineFacts(): Promise<MachineFacts | undefined> {
  try {
    const [boot, processes, times] = await Promise.all([
      readFile("/proc/sys/kernel/random/boot_id", "latin1"),
      readlink("/proc/self/ns/pid"),
      readlink("/proc/self/ns/time"),
    ]);
    return { boot: boot.trim(), processes, times };
  } catch {
    return undefined;
  }
}

/** Throws for a process that is not the first one of a namespace of its own. */
async function startTimeOfFirst(pid: number): Promise<string> {
  const [status, facts] = await Promise.all([readFile(`/proc/${pid}/status`, "latin1"), readState(pid)]);
  const numbers = /^NSpid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
  if (facts === undefined || numbers.length < 2 || numbers.at(-1) !== "1") {
    throw new KernelError("SANDBOX_ERROR", "the program is not in a process namespace of its own");
  }
  return facts.startTime;
}

interface ProcessFacts {
  readonly state: string;
  readonly startTime: string;
  /** Of the whole process; a first thread that has ended waits for the others, and shows as ended meanwhile. */
  readonly threads: number;
}

/** What follows the name, which may hold anything, in brackets. */
async function readState(pid: number): Promise<ProcessFacts | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, threads, startTime] = [fields[0], fields[17], fields[19]];
  if (state === undefined || startTime === undefined || !/^\d+$/.test(startTime)) return undefined;
  return { state, startTime, threads: Number(threads) };
}

/**
 * One that was still being set up when its kernel was killed is not bound to it yet and would wait for ever, so it is killed
 * here: it is the very process that was noted, and everything in its namespace ends with it.
 */
async function areGone(programs: readonly StartedProgram[], maxDyingMs: number): Promise<boolean> {
  const endMs = performance.now() + maxDyingMs;
  for (const program of programs) {
    while (!(await isGone(program))) {
      if (program.pid === 0 || performance.now() > endMs) return false;
      kill(program.pid);
      await pause(DYING_POLL_MS);
    }
  }
  return true;
}

/** SECURITY: not seen is not gone: processes can be hidden in /proc, but not from a signal. */
async function isGone({ pid, startTime }: StartedProgram): Promise<boolean> {
  if (pid === 0) return false;
  if (!exists(pid)) return true;
  const facts = await readState(pid);
  if (facts === undefined) return !exists(pid);
  const hasEnded = facts.state === "X" || (facts.state === "Z" && facts.threads <= 1);
  return facts.startTime !== startTime || hasEnded;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended since, or is not ours to kill.
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return !(fault instanceof Error && "code" in fault && fault.code === "ESRCH");
  }
}

/** Undefined if the file is not there, or is not as it was written. */
async function readStarted(path: string): Promise<readonly StartedProgram[] | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  const lines = text.split("\n");
  if (lines.shift() !== FORMAT || lines.pop() !== "") return undefined;
  try {
    return lines.map(parseStarted);
  } catch {
    return undefined;
  }
}

function parseStarted(line: string): StartedProgram {
  const value: unknown = JSON.parse(line);
  if (typeof value !== "object" || value === null) throw new TypeError("not an object");
  const { call, pid, startTime } = value as Record<string, unknown>;
  if (typeof call !== "string" || typeof startTime !== "string") throw new TypeError("not a text");
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 0) throw new TypeError("not a number");
  return { call, pid, startTime };
}
