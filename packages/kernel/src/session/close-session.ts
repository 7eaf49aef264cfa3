import { KernelError } from "@narthex/contracts";
import { dedupeRow } from "../journal/dedupe-row.ts";
import { settledIntentRow } from "../journal/intent.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { describeFault } from "../result/describe-fault.ts";
import type { StateChange } from "../ports.ts";
import type { LiveSession } from "./live-session.ts";
import { sessionRow } from "./open-session.ts";

/**
 * Ends a session: no new call from now on, running ones are cancelled and answered first. Resolves when that is
 * durable, for whoever asks second too.
 */
export async function closeSession(
  sessionId: string,
  reason: "closed" | "expired",
  kernel: KernelParts,
): Promise<LiveSession> {
  const live = await kernel.sessions.find(sessionId);
  if (live === undefined) throw new KernelError("SESSION_UNKNOWN", `there is no session \`${sessionId.slice(0, 80)}\``);
  const { state } = live.session;
  if (live.closed === undefined && (state === "open" || state === "quarantined"))
    live.closed = close(live, reason, kernel);
  await live.closed;
  return live;
}

async function close(live: LiveSession, reason: "closed" | "expired", kernel: KernelParts): Promise<void> {
  live.session = { ...live.session, state: reason };
  for (const call of live.running.list()) call.cancel("cancelled");
  // INVARIANT: whatever is under way is recorded before the end; what comes now finds the session closed.
  await live.becomeIdle();
  live.session = { ...live.session, calls: live.calls, labels: live.labels };
  await kernel.ledger.append({
    chain: live.id,
    entries: [{ case: "sessionClosed", value: { reason } }],
    state: [sessionRow(live.session), live.usageRow(), ...forgottenRows(live)],
  });
  kernel.sessions.forget(live.id);
  await endPrograms(live.id, kernel).catch((fault: unknown) => {
    kernel.log("warn", "what a session left could not be taken away", {
      session: live.id,
      cause: describeFault(fault),
    });
  });
}

/** Jobs first: they work in what is taken away afterwards. */
async function endPrograms(sessionId: string, kernel: KernelParts): Promise<void> {
  await kernel.shells?.endSession(sessionId);
  await kernel.programs?.endSession(sessionId);
}

/** What was kept to answer repeats: there will be none. Calls whose outcome nobody knows stay in the journal. */
function forgottenRows(live: LiveSession): StateChange[] {
  return [
    ...live.answersByKey.keys().map((key) => dedupeRow(live.id, key, undefined)),
    ...live.settled.keys().map((requestId) => settledIntentRow(live.id, requestId)),
  ];
}
