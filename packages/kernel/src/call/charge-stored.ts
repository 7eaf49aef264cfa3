import { KernelError } from "@narthex/contracts";
import type { BudgetShortfall } from "../budget/budget-account.ts";
import { ReservedBytes } from "../budget/reserved-bytes.ts";
import { countTreeBytes, settleTreeBytes } from "../session/tree-storage.ts";
import type { AdmittedCall } from "./call.ts";

/** Reserves stored bytes before they are written. On a shortfall, returns it and adds a BudgetExceeded entry. */
export function chargeStored(call: AdmittedCall, bytes: number): BudgetShortfall | undefined {
  const { live, trail } = call;
  const shortfall = countTreeBytes(live, bytes) ?? reserve(call, bytes);
  if (shortfall === undefined) trail.countedBytes += bytes;
  if (shortfall !== undefined) trail.add({ case: "budgetExceeded", value: { leaseId: live.lease.id, ...shortfall } });
  return shortfall;
}

function reserve({ live, trail }: AdmittedCall, bytes: number): BudgetShortfall | undefined {
  if (live.lease.budgets.stored_bytes === undefined) return undefined;
  trail.storedBytes ??= new ReservedBytes(live.account, "stored_bytes");
  const shortfall = trail.storedBytes.add(bytes);
  if (shortfall !== undefined) settleTreeBytes(live, bytes, 0);
  return shortfall;
}

/**
 * Reserves the stored bytes of a result. The call can no longer be denied then, so a shortfall throws
 * RESOURCE_EXCEEDED.
 */
export function chargeResult(call: AdmittedCall, bytes: number): void {
  const shortfall = chargeStored(call, bytes);
  if (shortfall === undefined) return;
  throw new KernelError(
    "RESOURCE_EXCEEDED",
    `the result needs ${bytes} more stored bytes; the budget has ${shortfall.remaining} left`,
  );
}

/**
 * Reserves the bytes of other stored content: outputs, preimages, staged content. They are charged however the call
 * ends.
 */
export function chargeContent(call: AdmittedCall, bytes: number): void {
  chargeResult(call, bytes);
  call.trail.storedOtherBytes += bytes;
}
