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

/** One program's stay in a workspace whose protected paths it must leave as they are. */
export interface ProtectedRun {
  readonly guards: readonly SandboxMount[];
  readonly admission: Admission;
  /** Whether what is there would be guarded as it was at the beginning. If not, the program must end: see the gate. */
  isCurrent(): Promise<boolean>;
  /** A lasting program does nothing from now on, until `renew`: a crash meanwhile leaves nothing of it to put back. */
  rest(): void;
  /** As `isCurrent`, of a lasting program that rested: changes made meanwhile were made by people, and stay. */
  renew(): Promise<boolean>;
  /** The program rested up to its end: nothing is put back for it. */
  vouch(): void;
  /**
   * After the program, or while a lasting one rests: sets aside what it made among the protected paths. Answers their
   * names, and where they are kept. Throws PROTECTION_FAILED if that is not possible: the workspace is unsafe then.
   */
  restore(): Promise<readonly string[]>;
  /** The program has ended, and `putBack` was called or did not have to be. */
  leave(): void;
}

export interface ProtectedWorkspaceOptions {
  /** What is protected: relative to a directory, `*` for any part of one name. */
  readonly paths: readonly string[];
  readonly restoreProtected: RestoreProtected;
  readonly records: GuardRecords;
  /** Only the workspace itself counts by default. */
  readonly sources?: TrustSources;
}

/** A program that is about to start. */
export interface GuardedProgram {
  readonly workspace: string;
  readonly sessionId: string;
  readonly program: SandboxedProgram;
}

/** Told what was put back, or could not be. Resolves when it is durable. */
export type ReportProtection = (report: ProtectionReport) => Promise<void>;

/** Gives what lets go of it again; undefined while another kernel has it, or if it is not there. */
export type LockWorkspace = (workspace: string) => Promise<(() => void) | undefined>;

const REPOSITORY = ".git";
const [TAKEN = ""] = TAKEN_PATHS;
/** Keeps the protected paths of workspaces as they are while programs write beside them. */
export class ProtectedWorkspace {
  readonly #options: ProtectedWorkspaceOptions;
  readonly #gate = new WorkspaceAdmission();
  readonly #repositories = new KnownRepositories();
  /** Programs that are at work, and what calls beside them were allowed to change meanwhile. */
  readonly #stays = new Set<ProtectedRunState>();
  /** By workspace: a recovery that is under way. */
  readonly #recovering = new Map<string, Promise<void>>();
  #report: ReportProtection = () => Promise.resolve();
  #loading: Promise<void> | undefined;

  constructor(options: ProtectedWorkspaceOptions) {
    this.#options = options;
  }

  /** Completes what kernels before this one left undone, where `lock` gives the workspace; tells `report` from now on. */
  async recover(report: ReportProtection, lock: LockWorkspace): Promise<void> {
    this.#report = report;
    await this.#load();
    for (const { workspace, record } of this.#options.records.list()) {
      if (record === undefined) continue;
      const unlock = await lock(workspace);
      if (unlock === undefined) continue;
      // Nothing starts here because of it; the report says why.
      await this.#recoverOnce(workspace).catch(() => undefined);
      unlock();
    }
  }

  /** Workspaces in which no program runs until their protected paths are as they were, or were accepted as they are. */
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
    // A repository's own files must be writable for git to work: of them only some are guarded.
    const paths = this.#options.paths.filter((path) => path !== REPOSITORY);
    const git = paths.length < this.#options.paths.length ? (program.git ?? "guarded") : undefined;
    const { sources } = this.#options;
    const scan = { workspace, bases, paths, git, ...(sources && { sources }) };
    let state: ProtectedState = { present: new Map(), guards: [], trusted: NO_FINDINGS };
    const look = async (): Promise<string> => {
      // SECURITY: what an earlier program left there is not taken for the user's own.
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

  /** A program that may change everything: alone, because others rely on what is guarded. */
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

  /** A call may change this path: a program that runs meanwhile is not blamed for it. */
  allowChange(workspace: string, path: string): void {
    const stays = this.#staysIn(workspace);
    if (stays.length === 0) void this.#options.records.forgetIdle(workspace);
    for (const stay of stays) {
      stay.allowed.add(path);
      if (!stay.isResting) stay.recorded?.update(recordedScan(stay)).catch(() => undefined);
    }
  }

  /** No program runs in this workspace until a person has accepted it: a tool could not put back what it changed. */
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

  /** Looks again each time another has left: what is to be guarded may have changed meanwhile. */
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

  /** What was made goes; a link or file that was changed comes back. */
  async #restore(
    scan: ProtectedScan,
    state: StateBefore,
    { allowed, kept }: Allowances,
    isSame: (before: FoundEntry, after: FoundEntry) => boolean,
  ): Promise<RestoreOutcome> {
    const { present: before } = state;
    const after = new Map((await scanProtected(scan, state)).present);
    // SECURITY: a program that goes on has no guard over places that were made while it ran, so paths are protected in them.
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
    // No program has made these.
    const made = keptIn.flatMap((place) => (place.startsWith(`${TAKEN}/`) ? [TAKEN, place] : [place]));
    for (const each of [kept, ...this.#staysIn(workspace).map((stay) => stay.kept)])
      for (const place of made) each.add(place);
    return { paths: changes.changed, keptIn };
  }

  /** SECURITY: with its files as they are, no program may take them for the user's own. */
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

  /** The same for all that lie in each other: what is planted in one is in the other too. */
  async #recoverAround(workspace: string): Promise<void> {
    await this.#load();
    for (const { workspace: other } of this.#options.records.list()) {
      const isNested = other !== "" && (containsWorkspace(workspace, other) || containsWorkspace(other, workspace));
      if (isNested) await this.#recoverOnce(other);
    }
    await this.#recoverOnce(workspace);
  }

  /** Puts back what a killed kernel or a failed attempt left. Throws SANDBOX_UNAVAILABLE if that is still not possible. */
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
      // Of a tool's own change there are no files that could be put back.
      if (found.record.scans.length === 0) throw new KernelError("SANDBOX_ERROR", found.problem);
    } catch (fault) {
      // Each is told once.
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
  /** What calls were allowed to change. */
  readonly allowed: ReadonlySet<string>;
  /** Places that were made to keep planted files in. */
  readonly kept: Set<string>;
}

/** One program's stay. SECURITY: what was allowed is allowed for as long as it lasts, and for no program after it. */
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
