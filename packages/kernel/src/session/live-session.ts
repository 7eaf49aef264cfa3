import { sharedUtf8, toHex } from "@narthex/contracts";
import type { BudgetAmounts } from "../budget/budget.ts";
import type { BudgetAccount, Reservation } from "../budget/budget-account.ts";
import type { DedupeEntry } from "../journal/dedupe-row.ts";
import type { RunningCall } from "../journal/running-call.ts";
import { RunningCalls } from "../journal/running-calls.ts";
import { joinLabels } from "../label/join-labels.ts";
import type { DelegatedBudget } from "../lease/delegated-budget.ts";
import type { Lease } from "../lease/lease.ts";
import type { PolicyRequestTemplate } from "../policy/policy-request-template.ts";
import type { StateChange } from "../ports.ts";
import type { ToolSession } from "../tool/tool.ts";
import type { Session } from "./session.ts";
import { LazyMap } from "./lazy-map.ts";
import type { ViolationWindow } from "./violation-window.ts";

/** A call that may have had effects and whose outcome is unknown. */
export interface UnsettledCall {
  readonly requestId: string;
  readonly tool: string;
  /** Hex. */
  readonly inputDigest: string;
}

/** A call whose result is lost, but of which a person stated that it happened. */
export interface SettledCall {
  /** Hex. */
  readonly requestDigest: string;
  /** The record in which it was settled. */
  readonly recordIndex: number;
}

/** A session in memory. State that changes with every call is kept here, the rest in `session`. */
export class LiveSession {
  session: Session;
  lease: Lease;
  readonly account: BudgetAccount;
  /** The session that delegated this one's lease. */
  readonly parent: LiveSession | undefined;
  /** Child sessions in memory, by id. */
  readonly children = new LazyMap<string, LiveSession>();
  /** Budget reserved for child leases, by lease id. */
  readonly delegatedBudgets = new LazyMap<string, DelegatedBudget>();
  /** Number of open descendants at any depth. Counted in the root session only. */
  descendantCount = 0;
  /** Number of delegations in this tree since the kernel started. Counted in the root session only. */
  delegationCount = 0;
  /** Storage limit and bytes stored, for the whole tree. Counted in the root session only. */
  maxStoredBytes = Number.POSITIVE_INFINITY;
  treeStoredBytes = 0;
  calls: number;
  /** Number of calls that were granted and have not ended. */
  startedCalls = 0;
  labels: readonly string[];
  /** Secrets found in inputs, by their replacements. Kept in the root session only. */
  inputSecrets: ReadonlySet<string> = NO_LABELS;
  readonly running = new RunningCalls();
  /** Running calls by dedupe key. */
  readonly runningByKey = new LazyMap<string, RunningCall>();
  /** Finished calls by dedupe key, oldest first. */
  readonly dedupeEntries = new LazyMap<string, DedupeEntry>();
  /** By request id. */
  readonly unsettled = new LazyMap<string, UnsettledCall>();
  /** By request id. */
  readonly settled = new LazyMap<string, SettledCall>();
  /** Policy request templates, created at the first call of each tool. */
  requestTemplates: Map<string, PolicyRequestTemplate> | undefined;
  /** Created at the first violation. */
  violations: ViolationWindow | undefined;
  /** Budget reserved by the intents of unsettled calls, by request id. */
  readonly reservedByUnsettled = new LazyMap<string, Reservation>();
  /**
   * Set when the session starts to close. Resolves when the close is durable, with the budget returned to the parent.
   */
  closed: Promise<BudgetAmounts> | undefined;
  #usageKey: string | undefined;
  #toolSession: ToolSession | undefined;
  #durableLabels: ReadonlySet<string>;
  #inFlight = 0;
  #onIdle: (() => void)[] | undefined;

  constructor(session: Session, lease: Lease, account: BudgetAccount, parent?: LiveSession) {
    this.session = session;
    this.lease = lease;
    this.account = account;
    this.parent = parent;
    this.calls = session.calls;
    this.labels = session.labels;
    this.#durableLabels = session.labels.length === 0 ? NO_LABELS : new Set(session.labels);
  }

  get id(): string {
    return this.session.id;
  }

  /** The session as tools see it, without seed and token hash. */
  get toolSession(): ToolSession {
    const { id, tenant, workspace, workingDirectory } = this.session;
    this.#toolSession ??= Object.freeze({ id, tenant, workspace, workingDirectory });
    return this.#toolSession;
  }

  /** Adds labels to this session and all its loaded descendants. Returns whether any was new to this session. */
  addLabels(labels: readonly string[]): boolean {
    const joined = joinLabels(this.labels, labels);
    if (joined === this.labels) return false;
    this.labels = joined;
    for (const child of this.children.values()) child.addLabels(labels);
    return true;
  }

  /** Notes that a record which gave the session these labels is durable. */
  noteDurableLabels(labels: readonly string[]): void {
    if (!this.hasDurableLabels(labels)) this.#durableLabels = new Set([...this.#durableLabels, ...labels]);
  }

  hasDurableLabels(labels: readonly string[]): boolean {
    return labels.every((label) => this.#durableLabels.has(label));
  }

  /** Marks the start of work that will write to the session's chain. */
  enter(): void {
    this.#inFlight++;
  }

  leave(): void {
    this.#inFlight--;
    if (this.#inFlight > 0) return;
    const waiting = this.#onIdle;
    if (waiting === undefined) return;
    this.#onIdle = undefined;
    for (const wake of waiting) wake();
  }

  get isIdle(): boolean {
    return this.#inFlight === 0;
  }

  /** Resolves when the session has no work in progress. */
  async waitUntilIdle(): Promise<void> {
    while (!this.isIdle) {
      await new Promise<void>((resolve) => {
        this.#onIdle ??= [];
        this.#onIdle.push(resolve);
      });
    }
  }

  /** Finds an unsettled call that a request would repeat, with or without a dedupe key. */
  findUnsettledEqual(tool: string, inputDigest: Uint8Array): UnsettledCall | undefined {
    if (this.unsettled.size === 0) return undefined;
    const digest = toHex(inputDigest);
    for (const call of this.unsettled.values()) if (call.tool === tool && call.inputDigest === digest) return call;
    return undefined;
  }

  /** The state that changes with every call, as one small row. */
  usageRow(): StateChange {
    const labels = this.labels.length === 0 ? "[]" : JSON.stringify(this.labels);
    const usage = `{"calls":${this.calls},"labels":${labels},"spent":${JSON.stringify(this.account.spent())}}`;
    this.#usageKey ??= usageKey(this.id);
    return { table: "sessions", key: this.#usageKey, value: sharedUtf8(usage) };
  }
}

const NO_LABELS: ReadonlySet<string> = new Set();

export function usageKey(sessionId: string): string {
  return `${sessionId}/usage`;
}
