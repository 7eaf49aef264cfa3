import type { KernelParts } from "../kernel-parts.ts";
import type { DelegatedBudget } from "../lease/delegated-budget.ts";
import { describeFault } from "../result/describe-fault.ts";
import { closeSession } from "./close-session.ts";
import type { LiveSession } from "./live-session.ts";
import { sessionStateAt } from "./session-state-at.ts";

const SWEEP_MS = 30_000;
/** Minimum time between two sweeps: with a clock that stands still they would become a busy loop. */
const MIN_PAUSE_MS = 5;

/**
 * Ends work that outlives its lease: running calls are cancelled, jobs and shells are killed, and expired sessions are
 * closed.
 *
 * SECURITY: an agent can start a call or job that runs for an hour just before its lease ends. One timer is set to the
 * earliest end of any lease that a call began under. Tested by "cancels a running call when its lease ends, even if its session continues".
 */
export class SessionExpiry {
  readonly #stopped = new WeakSet<LiveSession>();
  #kernel: KernelParts | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextMs = Number.POSITIVE_INFINITY;

  start(kernel: KernelParts): void {
    this.#kernel = kernel;
    this.#sweep(kernel);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#kernel = undefined;
  }

  /** Schedules a sweep for the end of the lease that a call begins under. */
  scheduleAt(expiresAtMs: number): void {
    if (this.#kernel !== undefined && expiresAtMs < this.#nextMs) this.#setTimer(expiresAtMs, this.#kernel);
  }

  #setTimer(atMs: number, kernel: KernelParts): void {
    clearTimeout(this.#timer);
    this.#nextMs = atMs;
    const delayMs = Math.max(MIN_PAUSE_MS, Math.min(SWEEP_MS, atMs - kernel.ledger.nowMs()));
    this.#timer = setTimeout(() => this.#sweep(kernel), delayMs).unref();
  }

  #sweep(kernel: KernelParts): void {
    const nowMs = kernel.ledger.nowMs();
    let nextMs = nowMs + SWEEP_MS;
    for (const live of kernel.sessions.live()) {
      const state = sessionStateAt(live.session, nowMs);
      // A quarantined session takes no calls, and all state that is still needed is in the store.
      if (state === "quarantined" && live.isIdle && live.children.size === 0) kernel.sessions.forget(live.id);
      if (state === "expired") {
        this.#close(live.id, kernel);
        continue;
      }
      if (nowMs >= live.lease.expiresAtMs) this.#stop(live, kernel);
      for (const { sessionId, expiresAtMs } of openDelegatedBudgets(live)) {
        if (nowMs >= expiresAtMs) this.#close(sessionId, kernel);
        else nextMs = Math.min(nextMs, expiresAtMs);
      }
      for (const endMs of [live.session.expiresAtMs, live.lease.expiresAtMs]) {
        if (endMs > nowMs) nextMs = Math.min(nextMs, endMs);
      }
    }
    this.#setTimer(nextMs, kernel);
  }

  /** Stops the work of a session whose lease ends before the session does. */
  #stop(live: LiveSession, kernel: KernelParts): void {
    for (const call of live.running.list()) call.cancel("expired");
    if (this.#stopped.has(live)) return;
    this.#stopped.add(live);
    kernel.leaseEndListeners.notify(live.id);
    kernel.shells?.endSession(live.id).catch((fault: unknown) => {
      kernel.logger("warn", "jobs of an expired lease could not be ended", {
        session: live.id,
        cause: describeFault(fault),
      });
    });
  }

  #close(sessionId: string, kernel: KernelParts): void {
    closeSession(sessionId, "expired", kernel).catch((fault: unknown) => {
      kernel.logger("warn", "an expired session could not be closed", {
        session: sessionId,
        cause: describeFault(fault),
      });
    });
  }
}

/**
 * Delegated budgets of children that have not ended. Once these expire, their unspent budget returns to this session.
 */
function openDelegatedBudgets(live: LiveSession): readonly DelegatedBudget[] {
  return live.delegatedBudgets.values().filter((carving) => !carving.hasSessionEnded);
}
