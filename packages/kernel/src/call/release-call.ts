import type { CallResponse } from "../journal/call-response.ts";
import { settleTreeBytes } from "../session/tree-storage.ts";
import type { IncomingCall } from "./call.ts";

/** Releases everything that a call still holds, however it ended. */
export function releaseCall(incoming: IncomingCall, answer: CallResponse): void {
  const { trail } = incoming;
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
  settleTreeBytes(live, trail.countedBytes, 0);
  trail.spending?.close();
  trail.network?.close();
  trail.network?.settle();
  const { reservation } = trail;
  trail.reservation = undefined;
  if (reservation !== undefined) live.account.settle(reservation, {});
  live.leave();
}
