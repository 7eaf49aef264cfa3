import type { CallAnswer } from "../journal/call-answer.ts";
import { settleStored } from "../session/stored-in-tree.ts";
import type { CallFrame } from "./call.ts";

/** Gives back whatever a call still holds, however it ended. */
export function releaseCall(frame: CallFrame, answer: CallAnswer): void {
  const { trail } = frame;
  const { running, live } = trail;
  if (running !== undefined) {
    live?.running.delete(running);
    if (live?.runningByKey.get(running.dedupeKey) === running) live.runningByKey.delete(running.dedupeKey);
    running.settle(answer);
    trail.waiter?.leave();
  }
  if (live === undefined) return;
  if (trail.callNumber > 0) live.startedCalls--;
  trail.storedBytes?.settle(0);
  settleStored(live, trail.countedBytes, 0);
  trail.spending?.close();
  trail.network?.close();
  trail.network?.settle();
  const { reservation } = trail;
  trail.reservation = undefined;
  if (reservation !== undefined) live.account.settle(reservation, {});
  live.leave();
}
