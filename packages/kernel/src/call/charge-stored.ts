import { KernelError } from "@narthex/contracts";
import { isShortfall } from "../budget/budget-account.ts";
import type { AdmittedCall } from "./call.ts";

/** Reserves stored bytes before they are written, so that concurrent calls cannot overspend together. */
export function chargeStored(call: AdmittedCall, bytes: number): void {
  const { live, trail } = call;
  if (live.lease.budgets.stored_bytes === undefined || bytes === 0) return;
  const reservation = live.account.reserve({ stored_bytes: bytes });
  if (isShortfall(reservation)) {
    throw new KernelError(
      "RESOURCE_EXCEEDED",
      `the result needs ${bytes} more stored bytes; the budget has ${reservation.remaining} left`,
    );
  }
  trail.reservations.push(reservation);
}
