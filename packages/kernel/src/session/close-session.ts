import { KernelError } from "@narthex/contracts";
import type { BudgetAmounts } from "../budget/budget.ts";
import { dedupeRow } from "../journal/dedupe-row.ts";
import { settledIntentRow } from "../journal/intent.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { describeFault } from "../result/describe-fault.ts";
import type { StateChange } from "../ports.ts";
import type { LiveSession } from "./live-session.ts";
import { releaseBudget } from "./release-budget.ts";
import { sessionRow } from "./session-rows.ts";

/**
 * Closes a session. It accepts no new calls; running calls are cancelled and receive their responses, and child
 * sessions are closed first. Resolves when the close is durable, also for concurrent callers.
 */
export async function closeSession(
  sessionId: string,
  reason: "closed" | "expired",
  kernel: KernelParts,
): Promise<LiveSession> {
  const live = await kernel.sessions.find(sessionId);
  if (live === undefined) throw new KernelError("SESSION_UNKNOWN", `there is no session \`${sessionId.slice(0, 80)}\``);
  await endSession(live, reason, kernel);
  return live;
}

/** Closes a loaded session. Returns the budget returned to its parent; undefined if the session had ended before. */
export async function endSession(
  live: LiveSession,
  reason: "closed" | "expired",
  kernel: KernelParts,
): Promise<BudgetAmounts | undefined> {
  const { state } = live.session;
  if (live.closed === undefined && (state === "open" || state === "quarantined"))
    live.closed = close(live, reason, kernel);
  return live.closed;
}

async function close(live: LiveSession, reason: "closed" | "expired", kernel: KernelParts): Promise<BudgetAmounts> {
  live.session = { ...live.session, state: reason };
  for (const call of live.running.list()) call.cancel(reason === "expired" ? "expired" : "cancelled");
  await closeChildren(live, reason, kernel);
  // INVARIANT: work in progress is recorded before the end; later requests find the session closed.
  await live.waitUntilIdle();
  // Children whose delegation was in progress.
  await closeChildren(live, reason, kernel);
  live.session = { ...live.session, calls: live.calls, labels: live.labels };
  const answers = await kernel.approvals.endSession(live.id);
  // Jobs run in the sandbox state that is removed last, and their usage must be spent before the remaining budget is
  // returned.
  await takeAway(live, kernel.shells?.endSession(live.id), kernel);
  const released = releaseBudget(live);
  await kernel.ledger.append({
    chain: live.id,
    entries: [{ case: "sessionClosed", value: { reason } }, ...released.entries],
    state: [sessionRow(live.session), live.usageRow(), ...released.state(), ...forgottenRows(live), ...answers],
  });
  kernel.sessions.forget(live.id);
  await takeAway(live, kernel.programs?.endSession(live.id), kernel);
  return released.returned;
}

async function closeChildren(live: LiveSession, reason: "closed" | "expired", kernel: KernelParts): Promise<void> {
  const open = live.delegatedBudgets.values().filter((carving) => !carving.hasSessionEnded);
  await Promise.all(open.map(({ sessionId }) => closeSession(sessionId, reason, kernel)));
}

/** Waits for a cleanup. A failure is logged and does not keep the session from ending. */
async function takeAway(live: LiveSession, work: Promise<void> | undefined, kernel: KernelParts): Promise<void> {
  await work?.catch((fault: unknown) => {
    kernel.logger("warn", "what a session left could not be taken away", {
      session: live.id,
      cause: describeFault(fault),
    });
  });
}

/**
 * Removes the entries for repeated requests, since none can arrive any more. Calls with an unknown outcome stay in the
 * journal.
 */
function forgottenRows(live: LiveSession): StateChange[] {
  return [
    ...live.dedupeEntries.keys().map((key) => dedupeRow(live.id, key, undefined)),
    ...live.settled.keys().map((requestId) => settledIntentRow(live.id, requestId)),
  ];
}
