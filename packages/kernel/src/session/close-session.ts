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
 * Ends a session: no new call from now on, running ones are cancelled and answered first, and whatever was split off it
 * has ended before. Resolves when that is durable, for whoever asks second too.
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

/** The same; gives what came back to its parent's budget, or undefined if it had ended before. */
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
  // INVARIANT: whatever is under way is recorded before the end; what comes now finds the session closed.
  await live.waitUntilIdle();
  // What was being split off meanwhile.
  await closeChildren(live, reason, kernel);
  live.session = { ...live.session, calls: live.calls, labels: live.labels };
  const answers = await kernel.approvals.endSession(live.id);
  // Jobs work in what is taken away at last, and what they used is spent before the rest of the budget is given back.
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

/** A session ends, whether or not all of it could be taken away. */
async function takeAway(live: LiveSession, work: Promise<void> | undefined, kernel: KernelParts): Promise<void> {
  await work?.catch((fault: unknown) => {
    kernel.logger("warn", "what a session left could not be taken away", {
      session: live.id,
      cause: describeFault(fault),
    });
  });
}

/** What was kept to answer repeats: there will be none. Calls whose outcome nobody knows stay in the journal. */
function forgottenRows(live: LiveSession): StateChange[] {
  return [
    ...live.dedupeEntries.keys().map((key) => dedupeRow(live.id, key, undefined)),
    ...live.settled.keys().map((requestId) => settledIntentRow(live.id, requestId)),
  ];
}
