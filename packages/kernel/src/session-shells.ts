import type { ProgramExit, SandboxProfile, RunningProgram } from "./sandboxed-programs.ts";

/**
 * How shell commands are run: each in a fresh sandbox, in one shell per session that lives in a sandbox, not at all, or
 * bare on the host, which only the configuration can ask for.
 */
export const SHELL_BACKENDS = ["sandbox", "session", "disabled", "host"] as const;
export type ShellBackend = (typeof SHELL_BACKENDS)[number];

/** Commands of sessions, and the jobs that go on between their calls. */
export interface SessionShells {
  /** What is configured; throws SANDBOX_UNAVAILABLE with the reason where that cannot be had, or is `disabled`. */
  backend(): Promise<ShellBackend>;
  /**
   * Starts a command, once its turn has come. The signal kills it with all it started.
   * INVARIANT: this and `spawn` reject only if nothing of the command has run.
   */
  run(place: SandboxProfile, command: ShellCommand, signal: AbortSignal): Promise<RunningCommand>;
  /** Starts a job that goes on after its call, until it ends, is killed, or its session ends. */
  spawn(place: SandboxProfile, job: JobCommand, signal: AbortSignal): Promise<ShellJob>;
  /** Throws INVALID_INPUT if the session has no such job. */
  job(sessionId: string, jobId: string): ShellJob;
  /** Kills what still runs of a session. Resolves when nothing is left of it. */
  endSession(sessionId: string): Promise<void>;
}

export interface JobCommand {
  /** For bash. */
  readonly command: string;
  /** Relative to the workspace's root, which is `.`. */
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Killed after this; with its session at the latest. */
  readonly timeoutMs?: number;
}

export interface ShellCommand extends Omit<JobCommand, "timeoutMs" | "workingDirectory"> {
  /** Undefined: where the session's shell is; elsewhere and at first `startDirectory`. */
  readonly workingDirectory: string | undefined;
  readonly startDirectory: string;
  readonly input: Uint8Array;
}

export interface RunningCommand extends RunningProgram {
  readonly ended: Promise<CommandEnd>;
}

export interface CommandEnd extends ProgramExit {
  /** What the caller should know beside the result: that a shell's state was lost, say. */
  readonly notes: readonly string[];
}

export interface ShellJob {
  readonly id: string;
  /**
   * What both streams printed from an offset on, in the order in which it came. Waits up to `waitMs` while there is
   * nothing new and the job runs.
   */
  read(offset: number, waitMs: number, signal: AbortSignal): Promise<JobOutput>;
  /** Throws EXECUTION_FAILED if the job takes no more input. Resolves once it is on its way. */
  write(data: Uint8Array): Promise<void>;
  endInput(): void;
  /** Ends every process of it. Resolves when they are gone. */
  kill(): Promise<void>;
  readonly state: JobState;
  /** Resolves, however it ended, when nothing of it runs any more, with the time on the processor that it used. */
  readonly ended: Promise<{ readonly cpuMs: number }>;
}

export interface JobState {
  readonly state: "running" | "exited" | "killed";
  readonly exitCode: number | undefined;
  /** Why it was killed, if not by its own session; what became of protected paths it changed. */
  readonly notes: readonly string[];
}

export interface JobOutput extends JobState {
  readonly bytes: Uint8Array;
  /** Of the first byte; later than asked for if that was dropped already. */
  readonly offset: number;
  /** Of everything printed so far. */
  readonly size: number;
  /** So many bytes from the beginning on are kept no more. */
  readonly dropped: number;
}
