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
import { SessionScratch } from "./session-scratch.ts";
import type { StartedPrograms } from "./started-programs.ts";
import { withGateForwarder } from "./gate-forwarder.ts";
import { waitForExit } from "./wait-for-exit.ts";
import { lockWorkspace } from "./workspace-lock.ts";

export interface ProgramsOptions {
  /** Opened when the first program is started. */
  readonly containment: () => Promise<Containment>;
  /** Where the homes of workspaces are kept. */
  readonly cacheDirectory: string;
  readonly protectedWorkspace: ProtectedWorkspace;
  findToolchains(place: ToolchainPlace): Promise<readonly Toolchain[]>;
  /** The PATH of a session's own client; undefined where it has none and the kernel's is meant. */
  pathOf?(sessionId: string): Promise<string | undefined>;
  readonly space: DiskSpace;
  readonly storage?: StorageLimits;
  readonly started: StartedPrograms;
}

export interface ToolchainPlace {
  readonly workspace: string;
  readonly identity: SandboxIdentity;
  /** Undefined for the kernel's own. */
  readonly path: string | undefined;
}

export interface ProgramsDriver extends SandboxedPrograms {
  start(
    place: SandboxProfile,
    program: SandboxedProgram,
    signal: AbortSignal,
    lasting?: LongRunningOptions,
  ): Promise<LongRunningProgram>;
  /** The call does more than to run programs that are noted one by one: how it ended cannot be proven. */
  noteUnproven(place: Pick<SandboxProfile, "call">): Promise<void>;
  /** Kills what still runs. */
  close(): Promise<void>;
}

/** Of a program that goes on after the call that started it. */
export interface LongRunningOptions {
  /** Called when the workspace's guards change: it must end before others can work there. */
  onAsked(): void;
  /** See `SandboxPlan`. */
  readonly hasChannel?: boolean;
}

export interface LongRunningProgram extends RunningProgram {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly channel: Duplex | undefined;
  /** Puts back what it has changed among the protected paths so far. Answers their names. */
  restoreNow(): Promise<readonly string[]>;
  /** See `GuardedStay`. */
  readonly stay: Pick<ProtectedRun, "isCurrent" | "rest" | "renew" | "vouch"> | undefined;
  /** Its first process, by its number outside. */
  readonly pid: Promise<number>;
  readonly processor: CpuWatch;
  /** It works for another call now: what it adds to the workspace is counted from here. */
  beginCall(): void;
}

const MAX_KNOWN = 256;
/** At a start, another kernel that works in a workspace is not waited for longer. */
const RECOVERY_LOCK_MS = 500;
/** As bubblewrap tells of SIGSYS. */
const KILLED_BY_FILTER = 128 + 31;
const KILLED = 128 + 9;

/** Runs programs in sandboxes over workspaces. */
export function createPrograms(options: ProgramsOptions): ProgramsDriver {
  return new Programs(options);
}

function commandFor(place: SandboxProfile, { command }: SandboxedProgram, { machine }: Containment): readonly string[] {
  const hasWay = place.network !== undefined && machine !== undefined;
  return hasWay ? withGateForwarder(command, machine.architecture, place) : command;
}

/** What a program's end depends on. */
interface Following {
  finish(): Promise<readonly string[]>;
  /** The bound of the disk that it was killed for, if it was. */
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
  /** Each with its end, by which protected paths are as they were. */
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
    // Last of all that can fail before it is given back below.
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
        // Also of one that failed, and so has no end that could say it.
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

  /** SECURITY: one that can reach more than its workspace, or goes on after its call, is noted as not provable. */
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
        // What is not there, or cannot be written any more, is put right before a program runs there again.
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
        // SECURITY: however it ended. What it left behind could change protected paths again after they were put back.
        const isGone = await waitForExit(started);
        // SECURITY: also after a sandbox that failed; the program may have run.
        const putBack = await finish();
        if (!isGone) throw await this.#refuseAfter(place);
        // Whom we killed had no time to say how it ended, or only that it was killed.
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

  /** No program runs in a workspace that processes of an earlier one may still change. */
  async #refuseAfter({ workspace, sessionId, access }: SandboxProfile): Promise<KernelError> {
    const problem = "processes that a program left behind could not be ended";
    if (access === "write") await this.markUnsafe(workspace, sessionId, problem);
    return new KernelError("SANDBOX_ERROR", problem);
  }

  /** SECURITY: a client's PATH leads to programs of its own session only; others in the workspace have theirs. */
  async #toolchainsFor(
    { workspace, sessionId }: SandboxProfile,
    identity: SandboxIdentity,
  ): Promise<readonly Toolchain[]> {
    const path = await this.#options.pathOf?.(sessionId);
    return await remember(this.#toolchains, `${identity.uid}:${workspace}\0${path ?? ""}`, () =>
      this.#options.findToolchains({ workspace, identity, path }),
    );
  }

  /** What persists for the workspace, and what lasts as long as the session. */
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
    return remember(this.#caches, `${identity.uid}:${workspace}`, () =>
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

/** No caller waits for the measuring of the home. */
function release(guarded: ProtectedRun | undefined, use: CacheUse | undefined, unlock: (() => void) | undefined): void {
  guarded?.leave();
  unlock?.();
  use?.leave().catch(() => undefined);
}

function remember<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = known.get(key);
  if (found !== undefined) return found;
  const making = make();
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, making);
  making.catch(() => known.delete(key));
  return making;
}
