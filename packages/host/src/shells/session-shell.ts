import { randomBytes } from "node:crypto";
import type { Duplex, Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";
import type { CommandEnd, ProgramExit, CpuAllowance, RunningCommand, ShellCommand } from "@narthex/kernel";
import type { LongRunningProgram } from "../programs/create-programs.ts";
import { measureTree } from "../sandbox/resources/process-tree.ts";
import { traceSleepingTree } from "../sandbox/resources/sleeping-tree.ts";
import { OutputTap } from "./output-tap.ts";
import { commandLines, FIRST_LINES, markLines, parseStatus } from "./shell-protocol.ts";

const MAX_STATUS = 16;
/** Bubblewrap's init process, and bash. */
const PROCESSES_OF_A_SHELL = 2;
const MAX_REST_TRIES = 50;
const REST_POLL_MS = 1;

/**
 * A long-running shell in its own sandbox: a bash that reads one command after the other.
 *
 * SECURITY: commands can do anything to the shell: define functions, replace it with another program, report a false
 * exit code. That affects only their own session. Printed output is never taken for a report, and an unexpected report
 * ends the shell.
 */
export class SessionShell {
  readonly #program: LongRunningProgram;
  readonly #out: OutputTap;
  readonly #err: OutputTap;
  readonly #channel: Duplex;
  #awaited: ((code: number) => void) | undefined;
  #violation: KernelError | undefined;
  #hasEnded = false;
  #pid: number | undefined;
  /** Set while the shell is idle with no other process running: the trace of its processes at that time. */
  #restTrace: string | undefined;
  #received = "";
  /** CPU time that was charged to commands so far. */
  #chargedMs = 0;

  constructor(program: LongRunningProgram) {
    if (program.channel === undefined) throw new KernelError("SANDBOX_ERROR", "the shell has no channel");
    this.#program = program;
    this.#channel = program.channel;
    this.#out = new OutputTap(program.stdout);
    this.#err = new OutputTap(program.stderr);
    this.#channel.setEncoding("latin1");
    this.#channel.on("data", (text: string) => this.#receive(text));
    void program.write(Buffer.from(FIRST_LINES));
    const markEnded = (): void => {
      this.#hasEnded = true;
    };
    program.ended.then(markEnded, markEnded);
  }

  /** False once no more commands can run in it. */
  get isAlive(): boolean {
    return !this.#hasEnded && this.#violation === undefined;
  }

  /** Resolves, however the shell ended, when all its processes have ended and protected paths are restored. */
  get ended(): Promise<ProgramExit> {
    return this.#program.ended;
  }

  /** Whether its guards are still those that the workspace needs. */
  async isCurrent(): Promise<boolean> {
    const { stay } = this.#program;
    if (stay === undefined) return true;
    if (this.#restTrace === undefined) return await stay.isCurrent();
    return this.#hasRested() && (await stay.renew());
  }

  /** Kills the shell. Protected paths that people changed while it rested are not attributed to it and stay. */
  kill(): void {
    if (this.#hasRested()) this.#program.stay?.vouch();
    this.#program.kill();
  }

  /** SECURITY: a program that replaced the shell may only pretend to be idle, so its own reports do not count. */
  #hasRested(): boolean {
    return this.#restTrace !== undefined && this.#restTrace === this.#trace();
  }

  /** Returns undefined while anything runs in the shell. */
  #trace(): string | undefined {
    return this.#pid === undefined ? undefined : traceSleepingTree(this.#pid, PROCESSES_OF_A_SHELL);
  }

  /**
   * Runs one command. INVARIANT: one at a time. Killing the command kills the shell, because its processes cannot be
   * told from the shell's others.
   */
  run(command: ShellCommand, notes: readonly string[], allowance?: CpuAllowance): RunningCommand {
    this.#restTrace = undefined;
    this.#program.beginCall();
    const from = this.#chargedMs;
    this.#program.processor.setCheck(allowance && ((cpuMs) => allowance.check(cpuMs - from)));
    const between = this.#out.takeDropped() + this.#err.takeDropped();
    const [stdout, stderr] = [this.#out.open(), this.#err.open()];
    const told = between === 0 ? notes : [...notes, droppedNote(between)];
    const ended = this.#follow(command, told, allowance);
    ended.catch(() => undefined);
    return {
      stdout: stdout as Readable,
      stderr: stderr as Readable,
      ended,
      write: () => Promise.resolve(),
      endInput: () => undefined,
      kill: () => this.kill(),
    };
  }

  async #follow(
    command: ShellCommand,
    notes: readonly string[],
    allowance: CpuAllowance | undefined,
  ): Promise<CommandEnd> {
    const outcome = await Promise.race([
      this.#execute(command).then((exitCode) => ({ exitCode })),
      this.#program.ended.then((end) => ({ end })),
    ]);
    if (this.#violation !== undefined) {
      this.kill();
      // The CPU time is charged all the same.
      allowance?.check(this.#charge((await this.#program.ended).cpuMs));
      throw this.#violation;
    }
    if ("end" in outcome) {
      const cpuMs = this.#charge(outcome.end.cpuMs);
      return { ...outcome.end, cpuMs, notes: [...notes, endedNote(outcome.end)] };
    }
    const { exitCode } = outcome;
    const isAlone = await this.#isAlone();
    if (allowance !== undefined && !isAlone) return await this.#endAfter(exitCode, notes);
    // Taken before protected paths are restored: any later activity changes the trace.
    const trace = isAlone ? await this.#waitForRest() : undefined;
    const putBack = await this.#program.restoreNow();
    const cpuMs = this.#charge(await this.#program.processor.read());
    // The check applies to one command only; the shell goes on, and the next command sets its own.
    this.#program.processor.setCheck(undefined);
    this.#restTrace = trace;
    if (trace !== undefined) this.#program.stay?.rest();
    return { exitCode, exceeded: undefined, peakMemoryBytes: 0, cpuMs, putBack, notes };
  }

  /**
   * Ends the shell with processes that a command left behind. SECURITY: they would consume CPU time for which no call
   * has reserved budget.
   */
  async #endAfter(exitCode: number, notes: readonly string[]): Promise<CommandEnd> {
    this.kill();
    const end = await this.#program.ended;
    const cpuMs = this.#charge(end.cpuMs);
    return { ...end, exitCode, cpuMs, notes: [...notes, LEFT_BEHIND] };
  }

  /** Returns the CPU time used since the last charge: each command also pays for background activity before it. */
  #charge(usedMs: number): number {
    const cpuMs = Math.max(0, usedMs - this.#chargedMs);
    this.#chargedMs += cpuMs;
    return cpuMs;
  }

  /**
   * Measures twice, from the first process down: a process that changes its parent during one measurement is seen in
   * the other. Done before protected paths are restored, so that no process is left to change them again.
   */
  async #isAlone(): Promise<boolean> {
    const pid = await this.#program.pid;
    for (let look = 0; look < 2; look++) {
      if ((await measureTree(pid)).processes > PROCESSES_OF_A_SHELL) return false;
    }
    return true;
  }

  /** Bash starts waiting for its next line a moment after it has reported the end of the last command. */
  async #waitForRest(): Promise<string | undefined> {
    this.#pid = await this.#program.pid;
    for (let tries = 0; tries < MAX_REST_TRIES; tries++) {
      const trace = this.#trace();
      if (trace !== undefined) return trace;
      await pause(REST_POLL_MS);
    }
    return undefined;
  }

  async #execute(command: ShellCommand): Promise<number> {
    const status = new Promise<number>((resolve) => {
      this.#awaited = resolve;
    });
    await this.#program.write(Buffer.from(commandLines(command)));
    const exitCode = await status;
    const mark = randomBytes(24).toString("hex");
    const marked = Promise.all([this.#out.endAt(mark), this.#err.endAt(mark)]);
    await this.#program.write(Buffer.from(markLines(mark)));
    await marked;
    return exitCode;
  }

  /**
   * SECURITY: the shell writes one line per command, before it reads the next line, which marks the end of the output.
   * A second line shows that the first was not written by the shell itself.
   */
  #receive(text: string): void {
    this.#received += text;
    if (this.#received.length > MAX_STATUS) return this.#violate();
    const end = this.#received.indexOf("\n");
    if (end === -1) return;
    const exitCode = parseStatus(this.#received.slice(0, end));
    const rest = this.#received.slice(end + 1);
    this.#received = "";
    const awaited = this.#awaited;
    this.#awaited = undefined;
    if (awaited === undefined || exitCode === undefined || rest !== "") this.#violate();
    else awaited(exitCode);
  }

  #violate(): void {
    this.#violation ??= new KernelError(
      "SANDBOX_ERROR",
      "the session's shell reported an end that was not due, and was ended: its variables, directory and processes are lost",
    );
    this.kill();
  }
}

function droppedNote(bytes: number): string {
  return `${bytes} bytes that processes in the background printed since the last command were dropped: start such programs with shell_spawn`;
}

function endedNote({ exitCode }: ProgramExit): string {
  const how = exitCode === undefined ? "was killed" : "has ended";
  return `the session's shell ${how}: its variables, directory and background processes are lost`;
}

const LEFT_BEHIND =
  "the session's shell was ended with what the command left running, because processor time is limited: start such programs with shell_spawn";
