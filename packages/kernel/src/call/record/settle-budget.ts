import type { BudgetAmounts } from "../../budget/budget.ts";
import type { LiveSession } from "../../session/live-session.ts";
import type { KeptCall } from "../call.ts";
import type { CallTrail } from "../call-trail.ts";
import { type Ending, isEnding } from "../ending.ts";

/** What the call used is spent; the rest of what it reserved is free again. */
export function settleBudget(
  trail: CallTrail,
  live: LiveSession,
  end: KeptCall | Ending,
  durationMs: number,
): BudgetAmounts {
  const storedBytes = trail.storedInput + (isEnding(end) ? 0 : end.result.size);
  const { reservation } = trail;
  trail.reservation = undefined;
  if (trail.callNumber === 0) {
    // Refused, but its input is on the disk.
    trail.storedBytes?.settle(storedBytes);
    return {};
  }
  const spent = {
    calls: 1,
    cost_units: trail.tool?.tool.price ?? 0,
    wall_ms: Math.ceil(durationMs),
    ...(storedBytes > 0 && { stored_bytes: storedBytes }),
  };
  trail.storedBytes?.settle(0);
  if (reservation !== undefined) live.account.settle(reservation, spent);
  return spent;
}
