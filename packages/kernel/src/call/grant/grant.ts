import { toHex } from "@narthex/contracts";
import { amountList } from "../../budget/amount-list.ts";
import { isShortfall } from "../../budget/budget-account.ts";
import type { BudgetAmounts } from "../../budget/budget.ts";
import { intentRow } from "../../journal/intent.ts";
import { logicalTimeMs } from "../../session/logical-time.ts";
import type { ToolContext } from "../../tool/tool.ts";
import type { DecidedCall } from "../call.ts";
import { callReservation, timeoutFor } from "../call-reservation.ts";
import { type PermittedCall, verifyPermitted } from "../decide/decide.ts";
import { Denied, type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { createToolContext } from "./tool-context.ts";

declare const grantBrand: unique symbol;

/** What one permitted call may touch, and for how long. */
export interface SealedGrant {
  readonly [grantBrand]: true;
  readonly callNumber: number;
  readonly timeoutMs: number;
  readonly context: ToolContext;
  readonly controller: AbortController;
}

export interface GrantedCall extends DecidedCall {
  readonly grant: SealedGrant;
}

// SECURITY: as for permitted calls, only what this module sealed counts, and only for the call it was sealed for.
// Tested by "a forged grant is refused at run time".
const sealed = new WeakMap<object, GrantedCall>();

/** Turns a permitted call into a sealed grant; makes the intent durable before anything can happen. */
export async function grant(call: PermittedCall, kernel: KernelParts): Promise<GrantedCall | Ending> {
  verifyPermitted(call);
  const { trail, live, registered } = call;
  if (trail.running?.signal.aborted === true) {
    return new Failed("CANCELLED", "the call was cancelled before it began; nothing was done");
  }
  const reservation = live.account.reserve(...callReservation(registered.tool, live.lease, call.frame.timeoutMs));
  if (isShortfall(reservation)) {
    trail.add({ case: "budgetExceeded", value: { leaseId: live.lease.id, ...reservation } });
    return new Denied("BUDGET_EXCEEDED", "kernel:grant", `the budget of ${reservation.dimension} has ${reservation.remaining} left`);
  }
  trail.reservations.push(reservation);
  live.calls++;
  trail.callNumber = live.calls;
  trail.startedAtMs = kernel.clock.monotonicMs();
  const timeoutMs = Math.min(timeoutFor(registered.tool, call.frame.timeoutMs), reservation.amounts.wall_ms ?? Infinity);
  const intent = call.tier !== "read_only";
  trail.add({
    case: "toolStarted",
    value: { callNumber: trail.callNumber, intent, reserved: amountList(reservation.amounts), timeoutMs },
  });
  if (intent) await writeIntent(call, reservation.amounts, kernel);
  return seal(call, timeoutMs, kernel);
}

/** Throws unless `grant` made this very grant for this very call. */
export function verifyGrant(call: GrantedCall): void {
  if (sealed.get(call.grant) !== call) throw new TypeError("not a granted call: only the grant stage makes one");
}

function seal(call: PermittedCall, timeoutMs: number, kernel: KernelParts): GrantedCall {
  const controller = new AbortController();
  const context = createToolContext(call, controller.signal, kernel);
  const fresh = Object.freeze({ callNumber: call.trail.callNumber, timeoutMs, context, controller }) as SealedGrant;
  const granted: GrantedCall = { ...call, grant: fresh };
  sealed.set(fresh, granted);
  return granted;
}

async function writeIntent(call: PermittedCall, reserved: BudgetAmounts, kernel: KernelParts): Promise<void> {
  const { trail, live } = call;
  const intent = {
    sessionId: live.id,
    requestId: call.requestId,
    tool: call.registered.id,
    inputDigest: toHex(call.inputDigest),
    startedAtMs: kernel.ledger.nowMs(),
    callNumber: trail.callNumber,
    reserved,
  };
  const running = trail.running;
  if (running !== undefined) running.finishesAlone = true;
  const appended = await kernel.ledger.append({
    chain: live.id,
    requestId: call.requestId,
    ...trail.take(),
    state: (recordIndex) => [intentRow({ ...intent, recordIndex }), live.usageRow()],
    logicalTimeMs: logicalTimeMs(trail.callNumber),
  });
  trail.intentIndex = appended.index;
  trail.effectsPossible = true;
}
