import { dirname } from "node:path";
import type { Duplex, Readable } from "node:stream";
import { KernelError } from "@narthex/contracts";
import type {
  ProgramExit,
  SandboxedProgram,
  SandboxedPrograms,
  ExceededBound,
  SandboxProfile,
  ProtectionReport,
  RunningProgram,
  UnsafeWorkspace,
} from "@narthex/kernel";
import type { Containment } from "../sandbox/open-containment.ts";
import type { CpuWatch } from "../sandbox/resources/watch-resources.ts";
import { HOME_PATH, type SandboxIdentity, type SandboxMount, type SandboxPlan } from "../sandbox/sandbox-plan.ts";
import type { BeforeRelease } from "../sandbox/spawn-sandbox.ts";
import type { ContainedProgram as StartedProgram } from "../sandbox/start-contained.ts";
import type { DiskSpace } from "../storage/disk-space.ts";
import { StorageArea } from "../storage/storage-area.ts";
import { DEFAULT_STORAGE_LIMITS, type StorageLimits } from "../storage/storage-limits.ts";
import { watchStorage } from "../storage/watch-storage.ts";
import { WorkspaceGrowth } from "../storage/workspace-growth.ts";
import type { Toolchain } from "../toolchains/toolchain.ts";
import { type CacheUse, openWorkspaceCache, type WorkspaceCache } from "../toolchains/workspace-cache.ts";
import { bundledFiles } from "./bundled-files.ts";
import { listAncestorEntries } from "./list-ancestor-entries.ts";
import { programPlan, writesOwnOnly } from "./program-plan.ts";
import type { ProtectedRun, ProtectedWorkspace } from "./protected-workspace.ts";
import { rememberPromise } from "./remember-promise.ts";
import { SessionScratch } from "./session-scratch.ts";
import type { StartedPrograms } from "./started-programs.ts";
import { withGateForwarder } from "./gate-forwarder.ts";
import { waitForExit } from "./wait-for-exit.ts";
import { lockWorkspace } from "./workspace-lock.ts";

export interface ProgramsOptions {
  /** Called when the first program is started. */
  readonly containment: () => Promise<Containment>;
  /** Directory that contains the homes of workspaces. */
  readonly cacheDirectory: string;
  readonly protectedWorkspace: ProtectedWorkspace;
  findToolchains(place: ToolchainPlace): Promise<readonly Toolchain[]>;
  /** Returns the PATH of a session's client; undefined if it has none and the kernel's PATH applies. */
  pathOf?(sessionId: string): Promise<string | undefined>;
  readonly space: DiskSpace;
  readonly storage?: StorageLimits;
  readonly started: StartedPrograms;
}

export interface ToolchainPlace {
  readonly workspace: string;
  readonly identity: SandboxIdentity;
  /** Undefined: the kernel's own PATH. */
  readonly path: string | undefined;
}

export interface ProgramsDriver extends SandboxedPrograms {
  start(
    place: SandboxProfile,
    program: SandboxedProgram,
    signal: AbortSignal,
    lasting?: LongRunningOptions,
  ): Promise<LongRunningProgram>;
  /** Records that the call does more than run recorded programs, so that its end can never be proven. */
  noteUnproven(place: Pick<SandboxProfile, "call">): Promise<void>;
  /** Kills all running programs. */
  close(): Promise<void>;
}

/** Options of a program that outlives the call that started it. */
export interface LongRunningOptions {
  /** Called when the workspace's guards change: the program must end before others can run there. */
  onAsked(): void;
  /** See `SandboxPlan`. */
  readonly hasChannel?: boolean;
}

export interface LongRunningProgram extends RunningProgram {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly channel: Duplex | undefined;
  /** Restores protected paths that it has changed so far. Returns their names. */
  restoreNow(): Promise<readonly string[]>;
  /** See `ProtectedRun`. */
  readonly stay: Pick<ProtectedRun, "isCurrent" | "rest" | "renew" | "vouch"> | undefined;
  /** Host pid of its first process. */
  readonly pid: Promise<number>;
  readonly processor: CpuWatch;
  /** Starts accounting for another call: growth of the workspace is counted from here. */
  beginCall(): void;
}

/** Maximum time that startup waits for another kernel that holds a workspace. */
const RECOVERY_LOCK_MS = 500;
/** Exit code that bubblewrap reports for SIGSYS. */
const KILLED_BY_FILTER = 128 + 31;
const KILLED = 128 + 9;

/** Creates the driver that runs programs in sandboxes over workspaces. */
export function createPrograms(options: ProgramsOptions): ProgramsDriver {
  return new Programs(options);
}

function commandFor(place: SandboxProfile, { command }: SandboxedProgram, { machine }: Containment): readonly string[] {
  const hasWay = place.network !== undefined && machine !== undefined;
  return hasWay ? withGateForwarder(command, machine.architecture, place) : command;
}

/** State that `#follow` needs when a program ends. */
interface Following {
  finish(): Promise<readonly string[]>;
  /** The storage limit for which the program was killed, if any. */
  overfull(): ExceededBound | undefined;
}

interface EnteredHome {
  readonly use: CacheUse;
  readonly mounts: readonly SandboxMount[];
  readonly areas: readonly StorageArea[];
}

class Programs implements ProgramsDriver {
  readonly #options: ProgramsOptions;
  readonly #storage: StorageLimits;
  readonly #scratch: SessionScratch;
  readonly #toolchains = new Map<string, Promise<readonly Toolchain[]>>();
  readonly #caches = new Map<string, Promise<WorkspaceCache>>();
  /** Running programs. Each promise resolves once the program has ended and its protected paths are restored. */
  readonly #running = new Map<StartedProgram, Promise<ProgramExit>>();

  constructor(options: ProgramsOptions) {
    this.#options = options;
    this.#storage = options.storage ?? DEFAULT_STORAGE_LIMITS;
    this.#scratch = new SessionScratch({ ...options, maxBytes: this.#storage.scratchBytes });
  }

  async start(
    place: SandboxProfile,
    program: SandboxedProgram,
    signal: AbortSignal,
    lasting?: LongRunningOptions,
  ): Promise<LongRunningProgram> {
    const containment = await this.#options.containment();
    const { identity, directory, access, reason } = await containment.identityFor(place.workspace);
    if (place.access === "write" && access === "read") throw new KernelError("SANDBOX_UNAVAILABLE", reason ?? "");
    const { protectedWorkspace, space, cacheDirectory } = this.#options;
    const canWrite = place.access === "write" || program.hasHome === true;
    const kernelHome = dirname(cacheDirectory);
    if (canWrite) await space.requireReserve([place.workspace, kernelHome]);
    const [toolchains, bundled] = await Promise.all([
      this.#toolchainsFor(place, identity),
      bundledFiles(program.bundled ?? []),
    ]);
    const files = [...(program.files ?? []), ...bundled];
    // Keep this last: a failure after it must release the home, which only the block below does.
    const home = program.hasHome === true ? await this.#enterHome(containment, place, identity) : undefined;
    let guarded: ProtectedRun | undefined;
    let unlock: (() => void) | undefined;
    try {
      if (place.access === "write") unlock = await lockWorkspace(directory, signal);
      if (place.access === "write") {
        const { workspace, sessionId } = place;
        guarded = place.keepsProtected
          ? await protectedWorkspace.begin({ workspace, sessionId, program }, signal, lasting?.onAsked)
          : await protectedWorkspace.beginUnguarded(workspace, signal, lasting?.onAsked);
      }
      const guards = guarded?.guards ?? [];
      const plan = programPlan(
        place,
        { ...program, files },
        { identity, directory, toolchains, guards, homes: home?.mounts ?? [] },
      );
      signal.throwIfAborted();
      const hasChannel = lasting?.hasChannel ?? false;
      const started = await containment.start(
        { ...plan, hasChannel },
        commandFor(place, program, containment),
        canWrite ? this.#noting(place, plan, lasting) : undefined,
      );
      const growth = new WorkspaceGrowth({
        containment,
        tree: { source: place.workspace, identity, directory },
        maxBytes: this.#storage.growthBytes,
        space,
      });
      const areas = [...(place.access === "write" ? [growth.area] : []), ...(home?.areas ?? [])];
      let overfull: ExceededBound | undefined;
      const storage = watchStorage({
        space,
        areas,
        paths: canWrite ? [kernelHome] : [],
        pid: started.pid,
        onExceeded(bound) {
          overfull = bound;
          started.kill();
        },
      });
      if (place.cpu !== undefined) started.processor.setCheck((cpuMs) => place.cpu?.check(cpuMs));
      const finish = async (): Promise<readonly string[]> => (guarded === undefined ? [] : await guarded.restore());
      const running = this.#follow(started, place, signal, { finish, overfull: () => overfull }, () => {
        storage.stop();
        // Check also when the program failed and so reported no usage of its own.
        place.cpu?.check(started.processor.cpuMs);
        release(guarded, home?.use, unlock);
      });
      const { stdout, stderr, channel, pid, processor } = started;
      const beginCall = (): void => growth.restart();
      return { ...running, stdout, stderr, channel, pid, processor, restoreNow: finish, stay: guarded, beginCall };
    } catch (fault) {
      release(guarded, home?.use, unlock);
      throw fault;
    }
  }

  currentRun(): Promise<string> {
    return this.#options.started.run();
  }

  haveEnded(run: string, call: string): Promise<boolean> {
    return this.#options.started.haveEnded(run, call);
  }

  endCall(call: string): void {
    this.#options.started.endCall(call);
  }

  forgetRuns(except: ReadonlySet<string>): Promise<void> {
    return this.#options.started.forget(except);
  }

  async noteUnproven({ call }: Pick<SandboxProfile, "call">): Promise<void> {
    if (call !== undefined) await this.#options.started.noteUnproven(call);
  }

  /** SECURITY: a program that reaches more than its workspace, or outlives its call, is recorded as unprovable. */
  #noting(
    { call, network }: SandboxProfile,
    plan: SandboxPlan,
    lasting: LongRunningOptions | undefined,
  ): BeforeRelease | undefined {
    if (call === undefined) return undefined;
    const { started } = this.#options;
    const isConfined = network === undefined && lasting === undefined && writesOwnOnly(plan);
    return (pid) => (isConfined ? started.note(call, pid) : started.noteUnproven(call));
  }

  async watchProtection(report: (report: ProtectionReport) => Promise<void>): Promise<void> {
    await this.#options.protectedWorkspace.recover(report, async (workspace) => {
      try {
        const { directory, access } = await (await this.#options.containment()).identityFor(workspace);
        // A missing or read-only workspace is recovered before the next program runs there.
        return access === "write" ? await lockWorkspace(directory, AbortSignal.timeout(RECOVERY_LOCK_MS)) : undefined;
      } catch {
        return undefined;
      }
    });
  }

  unsafeWorkspaces(): readonly UnsafeWorkspace[] {
    return this.#options.protectedWorkspace.unsafe();
  }

  async markUnsafe(workspace: string, sessionId: string, problem: string): Promise<void> {
    await this.#options.protectedWorkspace.markUnsafe(workspace, sessionId, problem);
  }

  allowChange(workspace: string, path: string): void {
    this.#options.protectedWorkspace.allowChange(workspace, path);
  }

  pathsAround(workspace: string, directory: string): Promise<readonly string[]> {
    return listAncestorEntries(workspace, directory);
  }

  async endSession(sessionId: string): Promise<void> {
    await this.#scratch.remove(sessionId);
  }

  removeLeftovers(hasEnded: (sessionId: string) => Promise<boolean>): Promise<void> {
    return this.#scratch.removeLeftovers(hasEnded);
  }

  async close(): Promise<void> {
    for (const program of this.#running.keys()) program.kill();
    await Promise.allSettled(this.#running.values());
    await this.#options.protectedWorkspace.close();
    await this.#options.started.close();
  }

  #follow(
    started: StartedProgram,
    place: SandboxProfile,
    signal: AbortSignal,
    { finish, overfull }: Following,
    leave: () => void,
  ): RunningProgram {
    let isKilled = false;
    const kill = (): void => {
      isKilled = true;
      started.kill();
    };
    signal.addEventListener("abort", kill, { once: true });
    if (signal.aborted) kill();
    const end = async (): Promise<ProgramExit> => {
      try {
        const [outcome] = await Promise.allSettled([started.ended]);
        // SECURITY: wait however the program ended: a process left behind could change protected paths again after they
        // were restored.
        const isGone = await waitForExit(started);
        // SECURITY: restore even if the sandbox failed; the program may have run.
        const putBack = await finish();
        if (!isGone) throw await this.#refuseAfter(place);
        // A program that the kernel killed may not have reported how it ended, or only that it was killed.
        const full = overfull();
        if (outcome.status === "rejected" && !isKilled && full === undefined) throw outcome.reason;
        const {
          exitCode: said,
          exceeded,
          peakMemoryBytes,
        } = outcome.status === "fulfilled" ? outcome.value : UNKNOWN_END;
        const exitCode = (isKilled || full !== undefined) && said === KILLED ? undefined : said;
        const { cpuMs } = started.processor;
        const triedToFork = !place.mayFork && exitCode === KILLED_BY_FILTER;
        return { exitCode, exceeded: exceeded ?? full, peakMemoryBytes, cpuMs, triedToFork, putBack };
      } finally {
        this.#running.delete(started);
        signal.removeEventListener("abort", kill);
        leave();
      }
    };
    const ended = end();
    ended.catch(() => undefined);
    this.#running.set(started, ended);
    const { stdin, stdout, stderr } = started;
    return {
      write: (chunk) => new Promise((resolve) => stdin.write(chunk, () => resolve())),
      endInput: () => stdin.end(),
      stdout,
      stderr,
      ended,
      kill,
    };
  }

  /**
   * Returns the error, and marks the workspace unsafe if it was writable: no program may run where processes of an
   * earlier one could still write.
   */
  async #refuseAfter({ workspace, sessionId, access }: SandboxProfile): Promise<KernelError> {
    const problem = "processes that a program left behind could not be ended";
    if (access === "write") await this.markUnsafe(workspace, sessionId, problem);
    return new KernelError("SANDBOX_ERROR", problem);
  }

  /** SECURITY: a client's PATH applies to programs of its own session only, not to other sessions in the workspace. */
  async #toolchainsFor(
    { workspace, sessionId }: SandboxProfile,
    identity: SandboxIdentity,
  ): Promise<readonly Toolchain[]> {
    const path = await this.#options.pathOf?.(sessionId);
    return await rememberPromise(this.#toolchains, `${identity.uid}:${workspace}\0${path ?? ""}`, () =>
      this.#options.findToolchains({ workspace, identity, path }),
    );
  }

  /** Mounts the workspace's persistent home and the session's scratch directory. */
  async #enterHome(containment: Containment, place: SandboxProfile, identity: SandboxIdentity): Promise<EnteredHome> {
    const { space } = this.#options;
    const cache = await this.#cacheFor(containment, place.workspace, identity);
    await space.requireReserve([cache.path]);
    const scratch = await this.#scratch.enter(place.sessionId, dirname(cache.path), identity);
    const use = await cache.enter();
    const area = new StorageArea({ ...use, limit: "home", path: cache.path, target: HOME_PATH }, space);
    return { use, mounts: [use.mount, scratch.mount], areas: [area, scratch.area] };
  }

  #cacheFor(containment: Containment, workspace: string, identity: SandboxIdentity): Promise<WorkspaceCache> {
    return rememberPromise(this.#caches, `${identity.uid}:${workspace}`, () =>
      openWorkspaceCache({
        containment,
        directory: this.#options.cacheDirectory,
        workspace,
        identity,
        maxBytes: this.#storage.cacheBytes,
      }),
    );
  }
}

const UNKNOWN_END = { exitCode: undefined, exceeded: undefined, peakMemoryBytes: 0 };

/** No caller waits until the home has been measured. */
function release(guarded: ProtectedRun | undefined, use: CacheUse | undefined, unlock: (() => void) | undefined): void {
  guarded?.leave();
  unlock?.();
  use?.leave().catch(() => undefined);
}
