import type { SocketFamily } from "./seccomp/seccomp-filter.ts";

/** Path of the workspace inside, whatever its path on the host is. */
export const WORKSPACE_PATH = "/workspace";
export const HOME_PATH = "/home/agent";
export const SCRATCH_PATH = "/scratch";

/** Descriptor number of a program's channel to its supervisor, if its plan has one. */
export const CHANNEL_DESCRIPTOR = 12;

/** Everything that one sandbox contains. Whatever is not listed here does not exist inside. */
export interface SandboxPlan {
  readonly mounts: readonly SandboxMount[];
  readonly symlinks: readonly SandboxSymlink[];
  /** Files made from bytes in memory, without any file of the host. */
  readonly contents?: readonly SandboxContent[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  readonly limits: ProcessLimits;
  readonly temporaryBytes: number;
  readonly socketFamilies: readonly SocketFamily[];
  readonly mayFork: boolean;
  /** Whether memory that belongs to no process is counted, and so need not be forbidden. */
  readonly countsAllMemory?: boolean;
  /** Whether the program has a pipe to its supervisor as `CHANNEL_DESCRIPTOR`. Cannot be combined with contents. */
  readonly hasChannel?: boolean;
  /** The user on the host, never root. It has the same uid inside. */
  readonly identity: SandboxIdentity;
}

export interface SandboxIdentity {
  readonly uid: number;
  readonly gid: number;
}

/** A directory or file of the host, mounted at a path inside. */
export interface SandboxMount {
  readonly source: string;
  readonly target: string;
  readonly access: "read" | "write";
  /**
   * Set for a mount that is nested in one a tool can write. SECURITY: another sandbox on the same workspace can replace
   * it with a link while this one is created, so the actual mount is compared with this before anything runs.
   */
  readonly guard?: FileIdentity;
}

/** Identifies a file independently of its name. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
}

export interface SandboxContent {
  /** In the fresh root, never below a directory that a tool can write. */
  readonly target: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

export interface SandboxSymlink {
  readonly target: string;
  readonly path: string;
}

/** Limits of each process, except for the totals that a control group or the watchdog enforces. */
export interface ProcessLimits {
  /** Rounded up to whole seconds, the resolution of the system. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Memory that one process may allocate, used or not; `memoryBytes` by default. */
  readonly dataBytes?: number;
  readonly processes: number;
  readonly openFiles: number;
  readonly fileBytes: number;
}

/** Returns the whole seconds of CPU time after which a process is stopped. */
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
