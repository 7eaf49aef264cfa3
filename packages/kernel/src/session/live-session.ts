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

/** A call that may have had effects and whose outcome nobody knows. */
export interface UnsettledCall {
  readonly requestId: string;
  readonly tool: string;
  /** Hex. */
  readonly inputDigest: string;
}

/** A call that happened and whose result is lost: a person said so. */
export interface SettledCall {
  /** Hex. */
  readonly requestDigest: string;
  /** The record in which it was settled. */
  readonly recordIndex: number;
}

/** A session as this process holds it: what changes with every call is here, what does not is in `session`. */
export class LiveSession {
  session: Session;
  lease: Lease;
  readonly account: BudgetAccount;
  /** The session whose lease this one's was split off. */
  readonly parent: LiveSession | undefined;
  /** Those split off this one that are in memory, by id. */
  readonly children = new LazyMap<string, LiveSession>();
  /** By lease id: what was set aside for leases split off this one's. */
  readonly delegatedBudgets = new LazyMap<string, DelegatedBudget>();
  /** How many leases come from this one, at any depth. Counted for sessions without a parent only. */
  descendantCount = 0;
  /** How many ever came from it while this kernel runs. Counted in the same place. */
  delegationCount = 0;
  /** What it may store, and what it has stored, with all that comes from it. Counted in the same place. */
  maxStoredBytes = Number.POSITIVE_INFINITY;
  treeStoredBytes = 0;
  calls: number;
  /** Calls that were granted and have not ended. */
  startedCalls = 0;
  labels: readonly string[];
  /** Secrets that stood in inputs, by their replacements. Kept for sessions without a parent only. */
  inputSecrets: ReadonlySet<string> = NO_LABELS;
  readonly running = new RunningCalls();
  /** By dedupe key, in flight. */
  readonly runningByKey = new LazyMap<string, RunningCall>();
  /** By dedupe key, finished; oldest first. */
  readonly dedupeEntries = new LazyMap<string, DedupeEntry>();
  /** By request id. */
  readonly unsettled = new LazyMap<string, UnsettledCall>();
  /** By request id. */
  readonly settled = new LazyMap<string, SettledCall>();
  /** What policy is asked about each tool; made at its first call. */
  requestTemplates: Map<string, PolicyRequestTemplate> | undefined;
  /** Made at the first violation. */
  violations: ViolationWindow | undefined;
  /** By request id: what their intents had set aside. */
  readonly reservedByUnsettled = new LazyMap<string, Reservation>();
  /** Set once the session is being closed; resolves when that is durable, with what its parent's budget got back. */
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

  /** As tools see it: neither seed nor token hash. */
  get toolSession(): ToolSession {
    const { id, tenant, workspace, workingDirectory } = this.session;
    this.#toolSession ??= Object.freeze({ id, tenant, workspace, workingDirectory });
    return this.#toolSession;
  }

  /** Joins labels, onto the sessions split off this one too; true if any was new. */
  addLabels(labels: readonly string[]): boolean {
    const joined = joinLabels(this.labels, labels);
    if (joined === this.labels) return false;
    this.labels = joined;
    for (const child of this.children.values()) child.addLabels(labels);
    return true;
  }

  /** A record that gave the session these labels is durable. */
  noteDurableLabels(labels: readonly string[]): void {
    if (!this.hasDurableLabels(labels)) this.#durableLabels = new Set([...this.#durableLabels, ...labels]);
  }

  hasDurableLabels(labels: readonly string[]): boolean {
    return labels.every((label) => this.#durableLabels.has(label));
  }

  /** Something that will write to the session's chain has begun. */
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

  /** Resolves when nothing of the session is under way. */
  async waitUntilIdle(): Promise<void> {
    while (!this.isIdle) {
      await new Promise<void>((resolve) => {
        this.#onIdle ??= [];
        this.#onIdle.push(resolve);
      });
    }
  }

  /** An unsettled call that a request would repeat, key or no key. */
  findUnsettledEqual(tool: string, inputDigest: Uint8Array): UnsettledCall | undefined {
    if (this.unsettled.size === 0) return undefined;
    const digest = toHex(inputDigest);
    for (const call of this.unsettled.values()) if (call.tool === tool && call.inputDigest === digest) return call;
    return undefined;
  }

  /** What every call changes, as one small row. */
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
