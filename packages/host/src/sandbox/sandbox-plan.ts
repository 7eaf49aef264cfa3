import type { SocketFamily } from "./seccomp/seccomp-filter.ts";

/** Where the workspace lies for everything inside, whatever it is called outside. */
export const WORKSPACE_PATH = "/workspace";
export const HOME_PATH = "/home/agent";
export const SCRATCH_PATH = "/scratch";

/** The number of the open file by which a program speaks with its supervisor, if its plan has a channel. */
export const CHANNEL_DESCRIPTOR = 12;

/** What one sandbox is made of. Everything that is not named here does not exist inside. */
export interface SandboxPlan {
  readonly mounts: readonly SandboxMount[];
  readonly symlinks: readonly SandboxSymlink[];
  /** Files made of bytes at hand: nothing of the host lies behind them. */
  readonly contents?: readonly SandboxContent[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  readonly limits: ProcessLimits;
  readonly temporaryBytes: number;
  readonly socketFamilies: readonly SocketFamily[];
  readonly mayFork: boolean;
  /** Memory that shows in no process is counted, so that it need not be forbidden. */
  readonly countsAllMemory?: boolean;
  /** Whether the program has a pipe to its supervisor as `CHANNEL_DESCRIPTOR`. Not together with contents. */
  readonly hasChannel?: boolean;
  /** The uid outside: never 0. Inside it has the same number. */
  readonly identity: SandboxIdentity;
}

export interface SandboxIdentity {
  readonly uid: number;
  readonly gid: number;
}

/** A directory or file of the host, seen at a path inside. */
export interface SandboxMount {
  readonly source: string;
  readonly target: string;
  readonly access: "read" | "write";
  /**
   * Nested in a mount that a tool can write. SECURITY: another sandbox on the same workspace can swap it for a link
   * while this one is made, so what was really mounted is compared with this before anything runs.
   */
  readonly guard?: FileIdentity;
}

/** Which file it is, whatever it is called. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
}

export interface SandboxContent {
  /** In the fresh root, never below what a tool can write. */
  readonly target: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

export interface SandboxSymlink {
  readonly target: string;
  readonly path: string;
}

/** Of each process, but for the totals that a cgroup or the watchdog enforces. */
export interface ProcessLimits {
  /** Kept to the next whole second, which is what the system can do. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** What one process may ask for, whether or not it uses it; `memoryBytes` by default. */
  readonly dataBytes?: number;
  readonly processes: number;
  readonly openFiles: number;
  readonly fileBytes: number;
}

/** The whole seconds of processor time that a process is stopped after. */
export function cpuSeconds({ cpuMs }: ProcessLimits): number {
  return Math.max(1, Math.ceil(cpuMs / 1000));
}

export const DEFAULT_LIMITS: ProcessLimits = {
  cpuMs: 600_000,
  memoryBytes: 4 * 1024 * 1024 * 1024,
  processes: 512,
  openFiles: 4096,
  fileBytes: 4 * 1024 * 1024 * 1024,
};
