import type { SocketFamily } from "./seccomp/seccomp-filter.ts";

/** Where the workspace lies for everything inside, whatever it is called outside. */
export const WORKSPACE_PATH = "/workspace";
export const HOME_PATH = "/home/agent";
export const SCRATCH_PATH = "/scratch";

/** What one sandbox is made of. Everything that is not named here does not exist inside. */
export interface SandboxPlan {
  readonly mounts: readonly SandboxMount[];
  readonly symlinks: readonly SandboxSymlink[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  readonly limits: ProcessLimits;
  readonly temporaryBytes: number;
  readonly socketFamilies: readonly SocketFamily[];
  readonly mayFork: boolean;
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

export interface SandboxSymlink {
  readonly target: string;
  readonly path: string;
}

/** Of each process, but for the totals that a cgroup or the watchdog enforces. */
export interface ProcessLimits {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly processes: number;
  readonly openFiles: number;
  readonly fileBytes: number;
}

export const DEFAULT_LIMITS: ProcessLimits = {
  cpuSeconds: 600,
  memoryBytes: 4 * 1024 * 1024 * 1024,
  processes: 512,
  openFiles: 4096,
  fileBytes: 4 * 1024 * 1024 * 1024,
};
