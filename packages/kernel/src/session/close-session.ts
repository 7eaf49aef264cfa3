import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { StateChange } from "../ports.ts";
import type { LiveSession } from "./live-session.ts";
import { sessionRow } from "./open-session.ts";

/** Ends a session: no new call from now on, running ones are cancelled and answered first. */
export async function closeSession(
  sessionId: string,
  reason: "closed" | "expired",
  kernel: KernelParts,
): Promise<LiveSession> {
  const live = await kernel.sessions.find(sessionId);
  if (live === undefined) throw new KernelError("SESSION_UNKNOWN", `there is no session \`${sessionId.slice(0, 80)}\``);
  if (live.session.state !== "open") return live;
  live.session = { ...live.session, state: reason, calls: live.calls, labels: live.labels };
  const running = [...live.running.values()];
  for (const call of running) call.cancel("cancelled");
  await Promise.all(running.map((call) => call.answer));
  const forgotten: StateChange[] = [...live.answersByKey.keys()].map((key) => ({
    table: "dedupe",
    key: `${live.id}/${key}`,
    value: undefined,
  }));
  await kernel.ledger.append({
    chain: live.id,
    entries: [{ case: "sessionClosed", value: { reason } }],
    state: [sessionRow({ ...live.session, calls: live.calls, labels: live.labels }), live.usageRow(), ...forgotten],
  });
  kernel.sessions.forget(live.id);
  return live;
}
