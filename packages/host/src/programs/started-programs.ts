import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";

/** One program of a call, recorded before it begins. */
interface StartedProgram {
  readonly call: string;
  /** Host pid of the first process in its process namespace; 0 if its end cannot be proven. */
  readonly pid: number;
  /** Start time of that process, in ticks since boot: pid and start time together are unique. */
  readonly startTime: string;
}

/** How long startup waits for programs of a kernel that was just killed: they are killed with it. */
const MAX_DYING_MS = 3000;
const DYING_POLL_MS = 10;
const FORMAT = "narthex programs 1";
/** Above this size the file is rewritten with only the calls that have not ended. */
const MAX_FILE_BYTES = 256 * 1024;

/**
 * Records the programs that this kernel has started in a file of the home, for the next kernel in case this one is
 * killed.
 *
 * SECURITY: a call is retried based on these proofs, so everything unknown counts as running.
 * - A program is held back until it is recorded (`beforeRelease`), even if the kernel dies meanwhile: see
 *   `gatedCommand`. So a program that is not in its kernel's file has run nothing.
 * - The record names the first process of the program's own process namespace. When that process is gone or a zombie,
 *   the system has killed and reaped every other process in the namespace, including detached ones.
 * - A reused pid is detected by its start time. Pids and times are comparable only within the same boot and the same
 *   namespaces; after a reboot every process is gone.
 * - No flush to disk is needed: written data survives the process, and no process survives the machine.
 * - No sandbox can reach the home.
 */
export class StartedPrograms {
  readonly #directory: string;
  readonly #maxDyingMs: number;
  #opened: Promise<OpenedFile> | undefined;
  /** Lines of the file for calls that have not ended. */
  readonly #lines = new Map<string, string>();
  #bytes = 0;
  /** Serializes writes. */
  #work: Promise<void> = Promise.resolve();

  constructor(directory: string, maxDyingMs = MAX_DYING_MS) {
    this.#directory = directory;
    this.#maxDyingMs = maxDyingMs;
  }

  /** Returns an id with the boot, the namespaces and this kernel's file, to be stored in the intents of calls. */
  async run(): Promise<string> {
    return (await this.#open()).run;
  }

  /** Records a program that is held back. Throws STORE_UNAVAILABLE on failure. */
  async note(call: string, pid: number): Promise<void> {
    await this.#write({ call, pid, startTime: await startTimeOfFirst(pid) });
  }

  /** Records that nothing can be proven about this call from now on. */
  async noteUnproven(call: string): Promise<void> {
    await this.#write({ call, pid: 0, startTime: "" });
  }

  /** Forgets a call whose outcome is recorded. */
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

  /** Removes the files of earlier kernels except those given. */
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
        // INVARIANT: one write per line, so that a killed kernel leaves whole lines.
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
    // Cap the counter, so that many concurrent calls do not cause a rewrite again and again.
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
  /** Process and time namespace of this kernel. */
  readonly processes: string;
  readonly times: string;
}

/** Returns undefined if the system does not provide these facts. */
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

/** Throws if the process is not the first one of its own namespace. */
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
  /** Of the whole process: a first thread that has ended is shown as a zombie while other threads still run. */
  readonly threads: number;
}

/** Reads the fields after the name; the name is in parentheses and may contain anything. */
async function readState(pid: number): Promise<ProcessFacts | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, threads, startTime] = [fields[0], fields[17], fields[19]];
  if (state === undefined || startTime === undefined || !/^\d+$/.test(startTime)) return undefined;
  return { state, startTime, threads: Number(threads) };
}

/**
 * Whether all programs have ended. A program whose sandbox was still being set up when its kernel was killed is not yet
 * bound to the kernel's life and would wait forever, so it is killed here: it is the very process that was recorded,
 * and its whole namespace ends with it.
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

/**
 * SECURITY: a process missing from /proc may only be hidden; a signal reaches it anyway, so existence is tested by
 * signal.
 */
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
    // It has ended meanwhile, or may not be killed by this user.
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

/** Returns undefined if the file is missing or damaged. */
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
