import type { JsonObject } from "@narthex/contracts";
import { toHex, utf8 } from "@narthex/contracts";
import type { BudgetAccount, Reservation } from "../budget/budget-account.ts";
import type { RunningCall } from "../journal/running-call.ts";
import type { Lease } from "../lease/lease.ts";
import type { StateChange } from "../ports.ts";
import type { Session } from "./session.ts";
import type { ViolationWindow } from "./violation-window.ts";

/** A call that may have had effects and whose outcome nobody knows. */
export interface UnsettledCall {
  readonly requestId: string;
  readonly tool: string;
  /** Hex. */
  readonly inputDigest: string;
}

/** A finished call that a dedupe key answers with. */
export interface KeptAnswer {
  readonly requestId: string;
  readonly requestDigest: string;
}

/** A session as this process holds it: what changes with every call is here, what does not is in `session`. */
export class LiveSession {
  session: Session;
  lease: Lease;
  readonly account: BudgetAccount;
  calls: number;
  labels: readonly string[];
  /** By request id. */
  readonly running = new Map<string, RunningCall>();
  /** By dedupe key, in flight. */
  readonly runningByKey = new Map<string, RunningCall>();
  /** By dedupe key, finished; oldest first. */
  readonly answersByKey = new Map<string, KeptAnswer>();
  /** By request id. */
  readonly unsettled = new Map<string, UnsettledCall>();
  /** Made at the first violation. */
  violations: ViolationWindow | undefined;
  /** By request id: what their intents had set aside. */
  readonly reservedByUnsettled = new Map<string, Reservation>();

  constructor(session: Session, lease: Lease, account: BudgetAccount) {
    this.session = session;
    this.lease = lease;
    this.account = account;
    this.calls = session.calls;
    this.labels = session.labels;
  }

  get id(): string {
    return this.session.id;
  }

  /** Joins labels; true if any was new. */
  addLabels(labels: readonly string[]): boolean {
    const fresh = labels.filter((label) => !this.labels.includes(label));
    if (fresh.length === 0) return false;
    this.labels = [...this.labels, ...fresh].sort();
    return true;
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
    const usage: JsonObject = { calls: this.calls, labels: [...this.labels], spent: { ...this.account.spent() } };
    return { table: "sessions", key: usageKey(this.id), value: utf8(JSON.stringify(usage)) };
  }
}

export function usageKey(sessionId: string): string {
  return `${sessionId}/usage`;
}
