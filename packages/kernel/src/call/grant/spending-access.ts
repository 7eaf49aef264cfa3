import { KernelError } from "@narthex/contracts";
import type { SpendingAccess } from "../../tool/tool.ts";
import { CallSpending } from "../call-spending.ts";
import type { PermittedCall } from "../decide/decide.ts";

export function createSpendingAccess(call: PermittedCall, guard: () => void): SpendingAccess {
  const { trail, live, registered } = call;
  const open = (): CallSpending => {
    guard();
    const { inference_tokens = 0, cost_units = 0 } = trail.reservation?.amounts ?? {};
    const reserved = { inference_tokens, cost_units: Math.max(0, cost_units - registered.tool.price) };
    trail.spending ??= new CallSpending(live.account, reserved);
    return trail.spending;
  };
  return {
    begin(more = {}) {
      const shortfall = open().begin(more);
      if (shortfall === undefined) return;
      trail.add({ case: "budgetExceeded", value: { leaseId: live.lease.id, ...shortfall } });
      const { dimension, asked, remaining } = shortfall;
      throw new KernelError(
        "RESOURCE_EXCEEDED",
        `the call needs ${asked} more of ${dimension}; the budget has ${remaining} left`,
      );
    },
    settle: (spent) => open().settle(spent),
  };
}
