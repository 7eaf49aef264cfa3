import type { BundledProgram } from "./bundled-programs.ts";
import type { EgressProxy } from "./egress.ts";

/**
 * Programs in sandboxes of their own.
 *
 * SECURITY: behind this port there is no way to run a program bare. What is not named here does not exist inside: no
 * other file of the host, no network, no variable of the kernel's environment.
 */
export interface SandboxedPrograms {
  /**
   * Throws SANDBOX_UNAVAILABLE where nothing can be contained. The signal kills everything inside.
   * INVARIANT: rejects only if nothing of the program has run.
   */
  start(place: SandboxProfile, program: SandboxedProgram, signal: AbortSignal): Promise<RunningProgram>;
  /** A protected path that a call is allowed to change: no program that runs meanwhile is blamed for it. */
  allowChange(workspace: string, path: string): void;
  /** What lies in the workspace's root and in every directory down to this one, relative to the root. */
  pathsAround(workspace: string, directory: string): Promise<readonly string[]>;
  /** Takes away what was kept for a session. */
  endSession(sessionId: string): Promise<void>;
  /** Takes away what earlier kernels kept for sessions that have ended since. */
  removeLeftovers(hasEnded: (sessionId: string) => Promise<boolean>): Promise<void>;
  /**
   * Completes what a kernel that was killed left undone, and tells of it; then of everything that is put back, or cannot
   * be, while this one runs. What is told counts once `report` has resolved.
   */
  watchProtection?(report: (report: ProtectionReport) => Promise<void>): Promise<void>;
  /** Names this start of the kernel, for the intents of calls that change nothing but through their programs. */
  currentRun?(): Promise<string>;
  /**
   * Whether everything that an earlier start of the kernel ran for a call (`ProgramPlace.call`) is proven to have ended.
   * SECURITY: false unless that is certain: a call is run again on a yes.
   */
  haveEnded?(run: string, call: string): Promise<boolean>;
  /** The call's outcome is recorded: nothing is proven about it any more. */
  endCall?(call: string): void;
  /** Lets go of what is known of earlier starts, but for those that are named. */
  forgetRuns?(except: ReadonlySet<string>): Promise<void>;
  /** Workspaces in which no program is started. */
  unsafeWorkspaces?(): readonly UnsafeWorkspace[];
  /** From now on no program is started in this workspace, until a person has accepted it as it is. */
  markUnsafe?(workspace: string, sessionId: string, problem: string): Promise<void>;
}

/** What became of the protected paths of a workspace that programs changed. */
export interface ProtectionReport {
  readonly workspace: string;
  /** Sessions whose programs ran there. */
  readonly sessionIds: readonly string[];
  /** What is as it was again. */
  readonly paths: readonly string[];
  /** Where in the workspace the changed files are kept. */
  readonly keptIn: readonly string[];
  /** The kernel was killed while they ran. */
  readonly afterCrash: boolean;
  /** Why it could not be put back: no program is started there. Empty if it could. */
  readonly problem: string;
  /** Who accepted the workspace as it is; empty unless that has happened. */
  readonly acceptedBy: string;
}

/** A workspace whose protected paths may not be as they were. */
export interface UnsafeWorkspace {
  /** Empty where it is not known which one. */
  readonly workspace: string;
  readonly problem: string;
}

/** What a call's grant gives its programs. */
export interface SandboxProfile {
  readonly sessionId: string;
  /** Names the call, where its programs are noted for the next start of the kernel before they begin. */
  readonly call?: string;
  /** Absolute, real path on the host. */
  readonly workspace: string;
  readonly access: "none" | "read" | "write";
  /** Whether there may be a second process. */
  readonly mayFork: boolean;
  /** Protected paths of the workspace stay as they are: no rule lets this call change them. */
  readonly keepsProtected: boolean;
  /** The way out of it; without one there is no network inside. */
  readonly network?: ProgramNetwork;
  /** What it may use of the processor; undefined if nothing limits that. */
  readonly cpu?: CpuAllowance;
}

/** The gate, as a program of one call reaches it. */
export type ProgramNetwork = Pick<EgressProxy, "socketPath" | "credential">;

/** Time on the processor that one program may use, with all it starts. */
export interface CpuAllowance {
  /** As it starts; of no single process more than this, rounded up to seconds. */
  readonly limitMs: number;
  /** Asked about ten times a second while it runs; the driver ends the program for what this answers. */
  check(cpuMs: number): ExceededCpuTime | undefined;
}

export interface SandboxedProgram {
  /** The program and its arguments. Without a `/`, it is looked for on the PATH inside. */
  readonly command: readonly string[];
  /** Relative to the workspace's root, which is `.`. Ignored without a workspace. */
  readonly workingDirectory: string;
  /** Besides PATH, HOME and the like, which the driver sets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Files and directories of the host that are there too, read-only. */
  readonly files?: readonly ProgramFile[];
  /** What comes with Narthex and is there too: at its `BUNDLED_PATHS`. */
  readonly bundled?: readonly BundledProgram[];
  /** Files that are there too, read-only, and exist nowhere on the host: these very bytes. */
  readonly contents?: readonly ProgramContent[];
  /** Git's own files: `guarded` keeps its configuration and hooks read-only, `configurable` only the hooks. */
  readonly git?: "guarded" | "configurable";
  /** Directories that hold a repository, or will: their git files are guarded from now on. */
  readonly repositories?: readonly string[];
  /** A home that persists for the workspace, with its caches; without one HOME is empty and read-only. */
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
  /** Resolves once there is room for more. What a program that has ended does not take is dropped. */
  write(chunk: Uint8Array): Promise<void>;
  endInput(): void;
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Resolves when nothing of it runs any more. Rejects with SANDBOX_ERROR if the sandbox itself failed. */
  readonly ended: Promise<ProgramExit>;
  /** Ends every process inside, at once. */
  kill(): void;
}

export interface ProgramExit {
  /** Undefined if it was killed before it said how it ended. */
  readonly exitCode: number | undefined;
  readonly exceeded: ExceededBound | undefined;
  readonly peakMemoryBytes: number;
  /** Time on the processor that it used, with all it started; where the host cannot count it, what was seen of it. */
  readonly cpuMs: number;
  /** It tried to start a second process, which it may not, and was ended for it. */
  readonly triedToFork?: boolean;
  /** Protected paths that it changed, and that are as they were again. */
  readonly putBack: readonly string[];
}

/**
 * A bound that a program ran into. `workspace` is what one call adds to it, `scratch` and `home` what the directories
 * hold; of `disk`, `allowed` is what must stay free, and `peak` what is.
 */
export interface ExceededBound {
  readonly limit: "memory" | "processes" | "output" | "cpu" | "wall clock" | "workspace" | "scratch" | "home" | "disk";
  readonly allowed: number;
  readonly peak: number;
}

export interface ExceededCpuTime extends ExceededBound {
  readonly limit: "cpu";
}
