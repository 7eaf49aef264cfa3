import { type JsonValue, KernelError } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetAmounts } from "../budget/budget.ts";
import type { Spending, Tool } from "../tool/tool.ts";
import type { CheckedCall } from "./call.ts";
import { sumOf, verifySpending } from "./call-spending.ts";

/** What one call may use at most. */
export interface CallBounds {
  readonly timeoutMs: number;
  /** Undefined if the tool sets itself no bound, 0 if this call runs no program. */
  readonly maxCpuMs: number | undefined;
}

/**
 * What a call sets aside before it runs: fixed amounts, with what the tool says these arguments may spend, and wall time
 * and time on the processor up to its bounds. A call without a bound on the processor sets aside all that is left of
 * that. Stored bytes are reserved as they come, each before it is written, since their bound would block every other
 * call.
 */
export function callReservation(
  { registered: { tool }, live, input }: Pick<CheckedCall, "registered" | "live" | "input">,
  bounds: CallBounds,
): [fixed: BudgetAmounts, upTo: BudgetAmounts] {
  const fixed = fixedAmounts(tool, input);
  const { wall_ms: wallMs, cpu_ms: cpuMs } = live.lease.budgets;
  // File workers are shared by calls and sessions, and inline code runs in the kernel: only programs and modules are counted.
  const isModule = tool.isolation === "wasm";
  const hasPrograms = (tool.isolation === "process" || isModule) && bounds.maxCpuMs !== 0;
  if (cpuMs === undefined || !hasPrograms)
    return [fixed, wallMs === undefined ? NOTHING : { wall_ms: bounds.timeoutMs }];
  // Zero is zero: a call that needs some is refused where there is none.
  // A module has one thread, which cannot use more of the processor than time goes by.
  const upTo = { cpu_ms: bounds.maxCpuMs ?? (isModule ? bounds.timeoutMs : Math.max(1, cpuMs)) };
  return [fixed, wallMs === undefined ? upTo : { ...upTo, wall_ms: bounds.timeoutMs }];
}

const NOTHING: BudgetAmounts = {};
const DIMENSIONS: ReadonlySet<string> = new Set(BUDGET_DIMENSIONS);

function fixedAmounts(tool: Tool, input: JsonValue): BudgetAmounts {
  const { price: cost_units, reserves } = tool;
  if (reserves === undefined) return { calls: 1, cost_units };
  const reserved: Spending | Promise<unknown> = reserves(input);
  // SECURITY: what is misspelt, or not said yet, would set nothing aside. What the kernel counts itself is left out.
  if (reserved instanceof Promise || Object.keys(reserved).some((key) => !DIMENSIONS.has(key))) {
    throw new KernelError("INTERNAL", "the tool reserves what is no amount of a budget");
  }
  return { calls: 1, ...sumOf({ inference_tokens: 0, cost_units }, verifySpending(reserved)) };
}

/** The smaller of the call's bound and what is left of the time its caller will wait. */
export function timeoutFor(boundMs: number, remainingMs: number): number {
  return Math.max(1, Math.ceil(Math.min(boundMs, remainingMs)));
}
