import type { ProgramExit, SandboxProfile, RunningProgram } from "./sandboxed-programs.ts";

/**
 * How shell commands run: each in a fresh sandbox, in one sandboxed shell per session, not at all, or directly on the
 * host, which only the configuration can select.
 */
export const SHELL_BACKENDS = ["sandbox", "session", "disabled", "host"] as const;
export type ShellBackend = (typeof SHELL_BACKENDS)[number];

/** Shell commands of sessions, and jobs that continue between their calls. */
export interface SessionShells {
  /**
   * Returns the configured backend. Throws SANDBOX_UNAVAILABLE with the reason if it is not available, or is
   * `disabled`.
   */
  backend(): Promise<ShellBackend>;
  /**
   * Starts a command, after earlier commands that it must wait for. The signal kills it with all its child processes.
   * INVARIANT: this and `spawn` reject only if nothing of the command has run.
   */
  run(place: SandboxProfile, command: ShellCommand, signal: AbortSignal): Promise<RunningCommand>;
  /** Starts a job that continues after its call, until it ends, is killed, or its session ends. */
  spawn(place: SandboxProfile, job: JobCommand, signal: AbortSignal): Promise<ShellJob>;
  /** Throws INVALID_INPUT if the session has no such job. */
  job(sessionId: string, jobId: string): ShellJob;
  /** Kills all commands and jobs of a session. Resolves when no process of it is left. */
  endSession(sessionId: string): Promise<void>;
}

export interface JobCommand {
  /** A bash command line. */
  readonly command: string;
  /** Relative to the workspace's root, which is `.`. */
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The job is killed after this time; at the latest when its session ends. */
  readonly timeoutMs?: number;
}

export interface ShellCommand extends Omit<JobCommand, "timeoutMs" | "workingDirectory"> {
  /**
   * If undefined: the current directory of the session's shell; for other backends and for the first command
   * `startDirectory`.
   */
  readonly workingDirectory: string | undefined;
  readonly startDirectory: string;
  readonly input: Uint8Array;
}

export interface RunningCommand extends RunningProgram {
  readonly ended: Promise<CommandEnd>;
}

export interface CommandEnd extends ProgramExit {
  /** Notes for the caller beside the result, for instance that the shell's state was lost. */
  readonly notes: readonly string[];
}

export interface ShellJob {
  readonly id: string;
  /**
   * Reads the output of both streams from an offset on, in the order in which it arrived. Waits up to `waitMs` while
   * there is no new output and the job runs.
   */
  read(offset: number, waitMs: number, signal: AbortSignal): Promise<JobOutput>;
  /** Throws EXECUTION_FAILED if the job accepts no more input. Resolves once the data is passed on. */
  write(data: Uint8Array): Promise<void>;
  endInput(): void;
  /** Kills every process of the job. Resolves when they have ended. */
  kill(): Promise<void>;
  readonly state: JobState;
  /** Resolves with the used processor time when no process of the job is left, however it ended. */
  readonly ended: Promise<{ readonly cpuMs: number }>;
}

export interface JobState {
  readonly state: "running" | "exited" | "killed";
  readonly exitCode: number | undefined;
  /** Why the job was killed, unless by its own session; and what happened to protected paths that it changed. */
  readonly notes: readonly string[];
}

export interface JobOutput extends JobState {
  readonly bytes: Uint8Array;
  /** Offset of the first byte; greater than requested if that part was already dropped. */
  readonly offset: number;
  /** Number of bytes printed so far. */
  readonly size: number;
  /** Number of bytes dropped from the beginning. */
  readonly dropped: number;
}
