import type { BudgetAmounts } from "../../budget/budget.ts";
import { limitedAmounts } from "../../budget/combine-amounts.ts";
import { settleTreeBytes } from "../../session/tree-storage.ts";
import type { LiveSession } from "../../session/live-session.ts";
import type { KeptCall } from "../call.ts";
import { sumOf } from "../call-spending.ts";
import type { CallTrail } from "../call-trail.ts";
import { type Ending, isEnding } from "../ending.ts";

/** Charges what the call used; the rest of its reservation is free again. */
export function settleBudget(
  trail: CallTrail,
  live: LiveSession,
  end: KeptCall | Ending,
  durationMs: number,
): BudgetAmounts {
  const storedBytes = trail.storedInputBytes + trail.storedOtherBytes + (isEnding(end) ? 0 : end.result.size);
  settleTreeBytes(live, trail.countedBytes, storedBytes);
  trail.countedBytes = 0;
  const { reservation } = trail;
  trail.reservation = undefined;
  if (trail.callNumber === 0) {
    // The call was refused, but its input is on disk.
    trail.storedBytes?.settle(storedBytes);
    return {};
  }
  const networkBytes = trail.network?.close() ?? 0;
  const cpuMs = trail.cpuTime?.settle() ?? 0;
  const price = { inference_tokens: 0, cost_units: trail.tool?.tool.price ?? 0 };
  const { cost_units, inference_tokens } = trail.spending === undefined ? price : sumOf(price, trail.spending.close());
  const spent = {
    calls: 1,
    cost_units,
    wall_ms: Math.ceil(durationMs),
    ...(inference_tokens > 0 && { inference_tokens }),
    ...(cpuMs > 0 && { cpu_ms: cpuMs }),
    ...(networkBytes > 0 && { network_bytes: networkBytes }),
    ...(storedBytes > 0 && { stored_bytes: storedBytes }),
  };
  trail.storedBytes?.settle(0);
  trail.network?.settle();
  if (reservation !== undefined) live.account.settle(reservation, spent);
  reserveForBackground(trail, live);
  return spent;
}

/**
 * Keeps CPU time reserved for programs that continue after the call. When they end, what they used is charged to the
 * session's account: no call pays for it. The charge becomes durable with the session's next record; a kernel that ends
 * before that loses it.
 */
function reserveForBackground(trail: CallTrail, { account, lease }: LiveSession): void {
  const { backgroundPrograms = [] } = trail;
  trail.backgroundPrograms = undefined;
  for (const { limitMs, ended } of backgroundPrograms) {
    const held = account.restore(limitedAmounts(lease.budgets, limitMs === undefined ? {} : { cpu_ms: limitMs }));
    // If the end of a program never becomes known, its reservation stays.
    ended.then(
      ({ cpuMs }) => account.settle(held, { cpu_ms: cpuMs }),
      () => undefined,
    );
  }
}
