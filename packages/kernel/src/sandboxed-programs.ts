import type { BundledProgram } from "./bundled-programs.ts";
import type { EgressProxy } from "./egress.ts";

/**
 * Runs programs, each in a sandbox of its own.
 *
 * SECURITY: behind this port a program cannot run without a sandbox. Inside there is nothing but what is named here: no
 * other file of the host, no network, no variable of the kernel's environment.
 */
export interface SandboxedPrograms {
  /**
   * Throws SANDBOX_UNAVAILABLE if no sandbox is available. The signal kills everything inside.
   * INVARIANT: rejects only if nothing of the program has run.
   */
  start(place: SandboxProfile, program: SandboxedProgram, signal: AbortSignal): Promise<RunningProgram>;
  /**
   * Announces that a call is allowed to change a protected path, so that no program running meanwhile is blamed for it.
   */
  allowChange(workspace: string, path: string): void;
  /** Lists the entries of the workspace's root and of every directory down to this one, relative to the root. */
  pathsAround(workspace: string, directory: string): Promise<readonly string[]>;
  /** Removes everything that was kept for a session. */
  endSession(sessionId: string): Promise<void>;
  /** Removes everything that earlier kernels kept for sessions that have ended since. */
  removeLeftovers(hasEnded: (sessionId: string) => Promise<boolean>): Promise<void>;
  /**
   * Completes restores that a killed kernel left undone and reports them, and then reports every path that is restored,
   * or cannot be, while this kernel runs. A report counts as delivered once `report` has resolved.
   */
  watchProtection?(report: (report: ProtectionReport) => Promise<void>): Promise<void>;
  /** Identifies this start of the kernel, for the intents of calls whose only effects come from their programs. */
  currentRun?(): Promise<string>;
  /**
   * Whether all programs that an earlier start of the kernel ran for a call (`SandboxProfile.call`) are proven to have
   * ended.
   * SECURITY: false unless that is certain: if true, the call is settled as killed, and an equal call may run.
   */
  haveEnded?(run: string, call: string): Promise<boolean>;
  /** Called when the call's outcome is recorded: the end of its programs need not be proven any more. */
  endCall?(call: string): void;
  /** Forgets earlier starts, except the named ones. */
  forgetRuns?(except: ReadonlySet<string>): Promise<void>;
  /** Workspaces in which no program is started. */
  unsafeWorkspaces?(): readonly UnsafeWorkspace[];
  /** Starts no more programs in this workspace until a person has accepted its current state. */
  markUnsafe?(workspace: string, sessionId: string, problem: string): Promise<void>;
}

/** Result of restoring protected paths that programs changed in a workspace. */
export interface ProtectionReport {
  readonly workspace: string;
  /** Sessions whose programs ran there. */
  readonly sessionIds: readonly string[];
  /** The restored paths. */
  readonly paths: readonly string[];
  /** Paths in the workspace where the changed files are kept. */
  readonly keptIn: readonly string[];
  /** The kernel was killed while the programs ran. */
  readonly afterCrash: boolean;
  /** Why the paths could not be restored, so that no program is started there; empty if they were restored. */
  readonly problem: string;
  /** Person who accepted the workspace in its current state; empty if none did. */
  readonly acceptedBy: string;
}

/** A workspace whose protected paths may have been changed. */
export interface UnsafeWorkspace {
  /** Empty if the workspace is not known. */
  readonly workspace: string;
  readonly problem: string;
}

/** The access that a call grants to its programs. */
export interface SandboxProfile {
  readonly sessionId: string;
  /** Identifies the call. Its programs are noted under this id before they start, for the next start of the kernel. */
  readonly call?: string;
  /** Absolute, real path on the host. */
  readonly workspace: string;
  readonly access: "none" | "read" | "write";
  /** Whether the program may start other processes. */
  readonly mayFork: boolean;
  /** Protected paths of the workspace cannot be changed: no rule permits this call to change them. */
  readonly keepsProtected: boolean;
  /** Access to the network; if absent, there is no network inside. */
  readonly network?: ProgramNetwork;
  /** Processor time that the program may use; undefined if it is not limited. */
  readonly cpu?: CpuAllowance;
}

/** The egress proxy, as the programs of one call reach it. */
export type ProgramNetwork = Pick<EgressProxy, "socketPath" | "credential">;

/** Processor time of one program with all its child processes. */
export interface CpuAllowance {
  /** The amount left at the start; the limit of each single process, rounded up to seconds. */
  readonly limitMs: number;
  /** Called about ten times a second while the program runs; if it returns a value, the driver ends the program. */
  check(cpuMs: number): ExceededCpuTime | undefined;
}

export interface SandboxedProgram {
  /** The program and its arguments. A name without a `/` is looked up in the PATH of the sandbox. */
  readonly command: readonly string[];
  /** Relative to the workspace's root, which is `.`. Ignored without a workspace. */
  readonly workingDirectory: string;
  /** In addition to PATH, HOME and the like, which the driver sets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Files and directories of the host to mount read-only. */
  readonly files?: readonly ProgramFile[];
  /** Bundled programs to mount at their `BUNDLED_PATHS`. */
  readonly bundled?: readonly BundledProgram[];
  /** Files with these bytes to mount read-only; they do not exist on the host. */
  readonly contents?: readonly ProgramContent[];
  /**
   * Protection of Git's own files: `guarded` keeps its configuration and hooks read-only, `configurable` only the
   * hooks.
   */
  readonly git?: "guarded" | "configurable";
  /** Directories that hold a repository, or will: their Git files are guarded from now on. */
  readonly repositories?: readonly string[];
  /** Mounts a home that persists for the workspace, with its caches; otherwise HOME is empty and read-only. */
  readonly hasHome?: boolean;
  readonly limits?: ProgramLimits;
}

export interface ProgramFile {
  readonly source: string;
  readonly target: string;
}

export interface ProgramContent {
  /** Below `/opt`. */
  readonly target: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

export interface ProgramLimits {
  readonly memoryBytes?: number;
  readonly cpuMs?: number;
  readonly processes?: number;
}

export interface RunningProgram {
  /** Resolves once there is room for more input. Input for a program that has ended is dropped. */
  write(chunk: Uint8Array): Promise<void>;
  endInput(): void;
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Resolves when no process of the program is left. Rejects with SANDBOX_ERROR if the sandbox itself failed. */
  readonly ended: Promise<ProgramExit>;
  /** Kills every process inside at once. */
  kill(): void;
}

export interface ProgramExit {
  /** Undefined if the program was killed before it exited. */
  readonly exitCode: number | undefined;
  readonly exceeded: ExceededBound | undefined;
  readonly peakMemoryBytes: number;
  /** Processor time of the program and its child processes; where the host cannot account for it, the observed part. */
  readonly cpuMs: number;
  /** The program tried to start a second process without permission, and was killed for it. */
  readonly triedToFork?: boolean;
  /** Protected paths that the program changed and that were restored. */
  readonly putBack: readonly string[];
}

/**
 * A limit that a program exceeded. For `workspace`, the amounts count what one call adds; for `scratch` and `home`,
 * what the directories hold; for `disk`, `allowed` is the space that must stay free, and `peak` the space that is free.
 */
export interface ExceededBound {
  readonly limit: "memory" | "processes" | "output" | "cpu" | "wall clock" | "workspace" | "scratch" | "home" | "disk";
  readonly allowed: number;
  readonly peak: number;
}

export interface ExceededCpuTime extends ExceededBound {
  readonly limit: "cpu";
}
