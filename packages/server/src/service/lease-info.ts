import { create, type LeaseInfo, LeaseInfoSchema } from "@narthex/contracts";
import { type LeaseFacts, leaseToJson } from "@narthex/kernel";

/** Converts a lease for an administrator. */
export function toLeaseInfo({ lease, state, budgetRemaining, childLeaseIds }: LeaseFacts): LeaseInfo {
  return create(LeaseInfoSchema, {
    leaseId: lease.id,
    parentLeaseId: lease.parentId ?? "",
    sessionId: lease.holder,
    state,
    lease: JSON.stringify(leaseToJson(lease)),
    budgetRemaining: JSON.stringify(budgetRemaining),
    childLeaseIds: [...childLeaseIds],
  });
}
