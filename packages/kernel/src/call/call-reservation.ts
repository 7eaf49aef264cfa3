import { type JsonValue, KernelError } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetAmounts } from "../budget/budget.ts";
import type { Spending, Tool } from "../tool/tool.ts";
import type { CheckedCall } from "./call.ts";
import { sumOf, verifySpending } from "./call-spending.ts";

/** Maximum use of resources by one call. */
export interface CallBounds {
  readonly timeoutMs: number;
  /** Undefined if the tool sets no bound, 0 if this call runs no program. */
  readonly maxCpuMs: number | undefined;
}

/**
 * Returns what a call reserves before it runs: fixed amounts, including what the tool says these arguments may spend,
 * and wall time and CPU time up to its bounds. A call without a CPU bound reserves all CPU time that is left. Stored
 * bytes are reserved as they arrive, each before it is written, since reserving up to their bound would block every
 * other call.
 */
export function callReservation(
  { registered: { tool }, live, input }: Pick<CheckedCall, "registered" | "live" | "input">,
  bounds: CallBounds,
): [fixed: BudgetAmounts, upTo: BudgetAmounts] {
  const fixed = fixedAmounts(tool, input);
  const { wall_ms: wallMs, cpu_ms: cpuMs } = live.lease.budgets;
  // Calls and sessions share file workers, and inline code runs in the kernel, so CPU time is counted for programs and
  // modules only.
  const isModule = tool.isolation === "wasm";
  const hasPrograms = (tool.isolation === "process" || isModule) && bounds.maxCpuMs !== 0;
  if (cpuMs === undefined || !hasPrograms)
    return [fixed, wallMs === undefined ? NOTHING : { wall_ms: bounds.timeoutMs }];
  // At least 1, so that a call that needs CPU time is refused if the budget is zero. A module has one thread, which
  // cannot use more CPU time than wall time.
  const upTo = { cpu_ms: bounds.maxCpuMs ?? (isModule ? bounds.timeoutMs : Math.max(1, cpuMs)) };
  return [fixed, wallMs === undefined ? upTo : { ...upTo, wall_ms: bounds.timeoutMs }];
}

const NOTHING: BudgetAmounts = {};
const DIMENSIONS: ReadonlySet<string> = new Set(BUDGET_DIMENSIONS);

function fixedAmounts(tool: Tool, input: JsonValue): BudgetAmounts {
  const { price: cost_units, reserves } = tool;
  if (reserves === undefined) return { calls: 1, cost_units };
  const reserved: Spending | Promise<unknown> = reserves(input);
  // SECURITY: a misspelt dimension, or a promise, would reserve nothing. Dimensions that the kernel itself counts are
  // ignored.
  if (reserved instanceof Promise || Object.keys(reserved).some((key) => !DIMENSIONS.has(key))) {
    throw new KernelError("INTERNAL", "the tool reserves what is no amount of a budget");
  }
  return { calls: 1, ...sumOf({ inference_tokens: 0, cost_units }, verifySpending(reserved)) };
}

/** Returns the smaller of the call's bound and the time left until the caller's deadline. */
export function timeoutFor(boundMs: number, remainingMs: number): number {
  return Math.max(1, Math.ceil(Math.min(boundMs, remainingMs)));
}
