import type { CallAnswer } from "../journal/call-answer.ts";
import type { CallFrame } from "./call.ts";

/** Gives back whatever a call still holds, however it ended. */
export function releaseCall(frame: CallFrame, answer: CallAnswer | undefined): void {
  const { trail } = frame;
  const { running, live } = trail;
  trail.waiter?.leave();
  if (live === undefined) return;
  for (const reservation of trail.reservations.splice(0)) live.account.settle(reservation, {});
  if (running === undefined) return;
  if (live.running.get(running.requestId) === running) live.running.delete(running.requestId);
  if (live.runningByKey.get(running.dedupeKey) === running) live.runningByKey.delete(running.dedupeKey);
  if (answer !== undefined) running.settle(answer);
}
