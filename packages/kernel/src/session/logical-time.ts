import { LOGICAL_EPOCH_MS, LOGICAL_TICK_MS } from "@narthex/contracts";

/** Logical time of a session's n-th call, starting at 1; the same in every run. */
export function logicalTimeMs(callNumber: number): number {
  return LOGICAL_EPOCH_MS + callNumber * LOGICAL_TICK_MS;
}
