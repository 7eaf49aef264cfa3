import { KernelError } from "@narthex/contracts";
import type { SandboxedProgram, ProtectionReport, UnsafeWorkspace } from "@narthex/kernel";
import type { SandboxMount } from "../sandbox/sandbox-plan.ts";
import { compareProtected, describeState, isSameAfterRestart, isSameWithinRun } from "./compare-protected.ts";
import type { RecordedScan } from "./guard-record.ts";
import type { GuardRecords, RecordedRun } from "./guard-records.ts";
import {
  describeFault,
  pathsForLedger,
  EMPTY_REPORT,
  type RestoreOutcome,
  unsafeWorkspaceError,
  pathsForModel,
} from "./protection-texts.ts";
import type { TrustSources } from "../trusted-paths/trust-sources.ts";
import { NO_FINDINGS } from "../trusted-paths/trusted-findings.ts";
import { type ProtectedScan, type ProtectedState, scanProtected, type StateBefore } from "./scan-protected.ts";
import { KnownRepositories } from "./known-repositories.ts";
import { type RestoreProtected, TAKEN_PATHS } from "./restore-protected.ts";
import type { FoundEntry } from "./held-directory.ts";
import { type Admission, containsWorkspace, WorkspaceAdmission } from "./workspace-admission.ts";

/** One program's run in a workspace whose protected paths must not change. */
export interface ProtectedRun {
  readonly guards: readonly SandboxMount[];
  readonly admission: Admission;
  /** Whether the guards would still be the same as at the start. If not, the program must end. */
  isCurrent(): Promise<boolean>;
  /** Marks a long-running program as idle until `renew`: after a crash meanwhile there is nothing of it to restore. */
  rest(): void;
  /** As `isCurrent`, for a long-running program that rested. Changes made meanwhile were made by people and stay. */
  renew(): Promise<boolean>;
  /** Asserts that the program rested until its end: nothing is restored for it. */
  vouch(): void;
  /**
   * Moves added protected paths aside and restores changed ones, after the program or while a long-running one rests.
   * Returns the paths and where the files are kept. Throws PROTECTION_FAILED if that fails: the workspace is unsafe.
   */
  restore(): Promise<readonly string[]>;
  /** Call when the program has ended and `restore` was called or was not needed. */
  leave(): void;
}

export interface ProtectedWorkspaceOptions {
  /** Protected paths, relative to a directory; `*` matches any part of one name. */
  readonly paths: readonly string[];
  readonly restoreProtected: RestoreProtected;
  readonly records: GuardRecords;
  /** By default only the workspace itself is considered. */
  readonly sources?: TrustSources;
}

/** A program that is about to start. */
export interface GuardedProgram {
  readonly workspace: string;
  readonly sessionId: string;
  readonly program: SandboxedProgram;
}

/** Reports what was restored, or what could not be. Resolves when the report is durable. */
export type ReportProtection = (report: ProtectionReport) => Promise<void>;

/** Locks a workspace and returns its release function; undefined if another kernel holds it or if it does not exist. */
export type LockWorkspace = (workspace: string) => Promise<(() => void) | undefined>;

const REPOSITORY = ".git";
const [TAKEN = ""] = TAKEN_PATHS;
/** Keeps the protected paths of workspaces unchanged while programs write next to them. */
export class ProtectedWorkspace {
  readonly #options: ProtectedWorkspaceOptions;
  readonly #gate = new WorkspaceAdmission();
  readonly #repositories = new KnownRepositories();
  /** Running programs, with the paths that concurrent calls were allowed to change. */
  readonly #stays = new Set<ProtectedRunState>();
  /** Recoveries in progress, by workspace. */
  readonly #recovering = new Map<string, Promise<void>>();
  #report: ReportProtection = () => Promise.resolve();
  #loading: Promise<void> | undefined;

  constructor(options: ProtectedWorkspaceOptions) {
    this.#options = options;
  }

  /**
   * Recovers what earlier kernels left undone, in each workspace that `lock` grants; later changes are reported to
   * `report` too.
   */
  async recover(report: ReportProtection, lock: LockWorkspace): Promise<void> {
    this.#report = report;
    await this.#load();
    for (const { workspace, record } of this.#options.records.list()) {
      if (record === undefined) continue;
      const unlock = await lock(workspace);
      if (unlock === undefined) continue;
      // Ignored: no program starts there, and the report has the reason.
      await this.#recoverOnce(workspace).catch(() => undefined);
      unlock();
    }
  }

  /** Returns workspaces in which no program runs until their protected paths are restored or accepted by a person. */
  unsafe(): UnsafeWorkspace[] {
    return this.#options.records
      .list()
      .filter(({ problem }) => problem !== "")
      .map(({ workspace, problem }) => ({ workspace, problem }));
  }

  async begin(
    { workspace, sessionId, program }: GuardedProgram,
    signal: AbortSignal,
    onAsked?: () => void,
  ): Promise<ProtectedRun> {
    const bases = await this.#repositories.basesFor(workspace, program);
    // Git must be able to write its repository, so only some of its files are guarded.
    const paths = this.#options.paths.filter((path) => path !== REPOSITORY);
    const git = paths.length < this.#options.paths.length ? (program.git ?? "guarded") : undefined;
    const { sources } = this.#options;
    const scan = { workspace, bases, paths, git, ...(sources && { sources }) };
    let state: ProtectedState = { present: new Map(), guards: [], trusted: NO_FINDINGS };
    const look = async (): Promise<string> => {
      // SECURITY: files that an earlier program planted must not be taken for the user's own.
      await this.#recoverAround(workspace);
      state = await scanProtected(scan);
      return describeState(state);
    };
    const entrance = await this.#enter(workspace, look, signal, onAsked);
    const flags = { isVouchedFor: false, isResting: false };
    const allowances = { allowed: new Set<string>(), kept: new Set<string>() };
    const stay: ProtectedRunState = { workspace, sessionId, scan, before: state, ...flags, ...allowances };
    this.#stays.add(stay);
    try {
      stay.recorded = await this.#options.records.begin(workspace, sessionId, recordedScan(stay));
      const unsafe = this.#options.records.find(workspace);
      if (unsafe !== undefined) throw unsafeWorkspaceError(workspace, unsafe.problem);
    } catch (fault) {
      this.#stays.delete(stay);
      stay.recorded?.end();
      entrance.leave();
      throw fault;
    }
    return this.#guard(stay, entrance);
  }

  /** Begins a program that may change everything. It runs alone, because other programs rely on their guards. */
  async beginUnguarded(workspace: string, signal: AbortSignal, onAsked?: () => void): Promise<ProtectedRun> {
    const look = async (): Promise<string> => {
      await this.#recoverAround(workspace);
      return "unguarded";
    };
    const entrance = await this.#enter(workspace, look, signal, onAsked);
    await this.#options.records.forgetIdle(workspace);
    const isTrue = (): Promise<boolean> => Promise.resolve(true);
    const nothing = (): void => undefined;
    const putBack = (): Promise<readonly string[]> => Promise.resolve([]);
    const leave = (): void => entrance.leave();
    return {
      guards: [],
      admission: entrance,
      isCurrent: isTrue,
      rest: nothing,
      renew: isTrue,
      vouch: nothing,
      restore: putBack,
      leave,
    };
  }

  /** Allows calls to change this path: programs that run meanwhile are not held responsible. */
  allowChange(workspace: string, path: string): void {
    const stays = this.#staysIn(workspace);
    if (stays.length === 0) void this.#options.records.forgetIdle(workspace);
    for (const stay of stays) {
      stay.allowed.add(path);
      if (!stay.isResting) stay.recorded?.update(recordedScan(stay)).catch(() => undefined);
    }
  }

  /** Blocks programs in this workspace until a person accepts it: a tool could not restore what it changed. */
  async markUnsafe(workspace: string, sessionId: string, problem: string): Promise<void> {
    if ((this.#options.records.find(workspace)?.problem ?? "") !== "") return;
    await this.#options.records.markUnsafe(workspace, sessionId, problem);
    await this.#report({ ...EMPTY_REPORT, workspace, sessionIds: [sessionId], problem });
  }

  async close(): Promise<void> {
    await this.#options.records.close();
  }

  #staysIn(workspace: string): ProtectedRunState[] {
    return [...this.#stays].filter((stay) => stay.workspace === workspace);
  }

  #guard(stay: ProtectedRunState, entrance: Admission): ProtectedRun {
    const { guards } = stay.before;
    const atFirst = describeState(stay.before);
    return {
      guards,
      admission: entrance,
      isCurrent: async () => describeState(await scanProtected(stay.scan), stay.kept) === atFirst,
      rest: () => {
        stay.isResting = true;
        stay.recorded?.end();
      },
      renew: async () => {
        if (describeState(await scanProtected(stay.scan), stay.kept) !== atFirst) return false;
        stay.isResting = false;
        await stay.recorded?.update(recordedScan(stay));
        return true;
      },
      vouch: () => {
        stay.isVouchedFor = true;
      },
      restore: async () => (stay.isVouchedFor ? [] : await this.#putBack(stay)),
      leave: () => {
        this.#stays.delete(stay);
        stay.recorded?.end();
        entrance.leave();
      },
    };
  }

  /** Scans again each time another program has left: the paths to guard may have changed meanwhile. */
  async #enter(
    workspace: string,
    look: () => Promise<string>,
    signal: AbortSignal,
    onAsked: (() => void) | undefined,
  ): Promise<Admission> {
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    const abort = (): void => resolve();
    signal.addEventListener("abort", abort, { once: true });
    try {
      for (;;) {
        signal.throwIfAborted();
        const entrance = this.#gate.tryEnter(workspace, await look(), onAsked);
        if (entrance !== undefined) return entrance;
        await Promise.race([this.#gate.waitForLeave(workspace), aborted]);
      }
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async #putBack(stay: ProtectedRunState): Promise<readonly string[]> {
    const { workspace, sessionId } = stay;
    let result: RestoreOutcome;
    try {
      result = await this.#restore(stay.scan, stay.before, stay, isSameWithinRun);
    } catch (fault) {
      throw await this.#fail(workspace, [sessionId], fault);
    }
    if (result.paths.length === 0) return [];
    const { keptIn } = result;
    await this.#report({
      ...EMPTY_REPORT,
      workspace,
      sessionIds: [sessionId],
      paths: pathsForLedger(result.paths),
      keptIn,
    });
    return pathsForModel(result);
  }

  /** Moves added paths aside and restores changed links and files. */
  async #restore(
    scan: ProtectedScan,
    state: StateBefore,
    { allowed, kept }: Allowances,
    isSame: (before: FoundEntry, after: FoundEntry) => boolean,
  ): Promise<RestoreOutcome> {
    const { present: before } = state;
    const after = new Map((await scanProtected(scan, state)).present);
    // SECURITY: a long-running program has no guard over quarantine directories created while it runs, so protected
    // paths are searched in them too.
    if (kept.size > 0) {
      const inside = {
        ...scan,
        bases: [".", ...kept],
        paths: scan.paths.filter((path) => !TAKEN_PATHS.includes(path)),
      };
      for (const [path, found] of (await scanProtected(inside, state)).present) after.set(path, found);
    }
    const isAllowedPath = (path: string): boolean => kept.has(path) || isAllowed(allowed, path);
    const changes = compareProtected({ before, after, isSame, isAllowed: isAllowedPath });
    const { added, restored } = changes;
    if (added.length + restored.length === 0) return { paths: [], keptIn: [] };
    const { workspace } = scan;
    const keptIn = await this.#options.restoreProtected({ workspace, paths: added, restored });
    // These directories were created by the kernel, not by a program.
    const made = keptIn.flatMap((place) => (place.startsWith(`${TAKEN}/`) ? [TAKEN, place] : [place]));
    for (const each of [kept, ...this.#staysIn(workspace).map((stay) => stay.kept)])
      for (const place of made) each.add(place);
    return { paths: changes.changed, keptIn };
  }

  /** SECURITY: no program may run on the unrestored files and take them for the user's own. */
  async #fail(workspace: string, sessionIds: readonly string[], fault: unknown): Promise<KernelError> {
    const problem = describeFault(fault);
    await this.#options.records.fail(workspace, problem);
    await this.#report({ ...EMPTY_REPORT, workspace, sessionIds, problem }).catch(() => undefined);
    const message = `protected paths of \`${workspace}\` could not be put back: ${problem}. No program runs there until a person has looked: narthex doctor`;
    return new KernelError("PROTECTION_FAILED", message, { cause: fault });
  }

  #load(): Promise<void> {
    return (this.#loading ??= this.#options.records.load());
  }

  /** Recovers all workspaces that contain each other: a planted file in one is in the other too. */
  async #recoverAround(workspace: string): Promise<void> {
    await this.#load();
    for (const { workspace: other } of this.#options.records.list()) {
      const isNested = other !== "" && (containsWorkspace(workspace, other) || containsWorkspace(other, workspace));
      if (isNested) await this.#recoverOnce(other);
    }
    await this.#recoverOnce(workspace);
  }

  /** Restores what a killed kernel or a failed attempt left. Throws SANDBOX_UNAVAILABLE if that still fails. */
  async #recoverOnce(workspace: string): Promise<void> {
    if (this.#options.records.find(workspace) === undefined) return;
    const running = this.#recovering.get(workspace) ?? this.#recover(workspace);
    this.#recovering.set(workspace, running);
    try {
      await running;
    } finally {
      if (this.#recovering.get(workspace) === running) this.#recovering.delete(workspace);
    }
  }

  async #recover(workspace: string): Promise<void> {
    const { records, sources } = this.#options;
    const found = records.find(workspace);
    const sessionIds = found?.record?.sessions ?? [];
    const acceptedBy = await records.acceptedBy(workspace);
    if (acceptedBy !== "") {
      await this.#report({ ...EMPTY_REPORT, workspace, sessionIds, acceptedBy });
      return await records.finish(workspace);
    }
    if (found?.record === undefined) throw unsafeWorkspaceError(workspace, found?.problem ?? "");
    const paths: string[] = [];
    const keptIn: string[] = [];
    const kept = new Set<string>();
    try {
      for (const { scan, present, trusted, allowed } of found.record.scans) {
        const allowances = { allowed: new Set(allowed), kept };
        const before = { present, trusted };
        const result = await this.#restore(
          { ...scan, workspace, ...(sources && { sources }) },
          before,
          allowances,
          isSameAfterRestart,
        );
        paths.push(...result.paths);
        keptIn.push(...result.keptIn);
      }
      // A change by a tool itself has no stored files that could be restored.
      if (found.record.scans.length === 0) throw new KernelError("SANDBOX_ERROR", found.problem);
    } catch (fault) {
      // Report each problem once.
      if (found.problem === "") await this.#fail(workspace, sessionIds, fault);
      throw unsafeWorkspaceError(workspace, describeFault(fault));
    }
    const afterCrash = found.problem === "";
    if (paths.length > 0 || !afterCrash) {
      await this.#report({ ...EMPTY_REPORT, workspace, sessionIds, paths: pathsForLedger(paths), keptIn, afterCrash });
    }
    await records.finish(workspace);
  }
}

interface Allowances {
  /** Paths that calls were allowed to change. */
  readonly allowed: ReadonlySet<string>;
  /** Quarantine directories that were created for planted files. */
  readonly kept: Set<string>;
}

/** State of one program's run. SECURITY: an allowed change stays allowed for this run only. */
interface ProtectedRunState extends Allowances {
  readonly workspace: string;
  readonly sessionId: string;
  readonly scan: ProtectedScan;
  readonly before: ProtectedState;
  isVouchedFor: boolean;
  isResting: boolean;
  recorded?: RecordedRun;
  readonly allowed: Set<string>;
}

function recordedScan({ scan: { bases, paths, git }, before, allowed }: ProtectedRunState): RecordedScan {
  const { present, trusted } = before;
  return { scan: { bases, paths, git }, present, trusted, allowed: [...allowed] };
}

function isAllowed(allowed: ReadonlySet<string>, path: string): boolean {
  return [...allowed].some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`));
}
