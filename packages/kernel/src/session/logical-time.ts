import { LOGICAL_EPOCH_MS, LOGICAL_TICK_MS } from "@narthex/contracts";

/** What the clock of a session's n-th call shows, from 1 on; the same in every run. */
export function logicalTimeMs(callNumber: number): number {
  return LOGICAL_EPOCH_MS + callNumber * LOGICAL_TICK_MS;
}
