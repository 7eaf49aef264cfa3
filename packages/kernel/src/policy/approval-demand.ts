import type { SafetyTier } from "../tool/tool.ts";
import type { PolicyRule } from "./policy.ts";

/**
 * Whether a person must be asked before a permitted call runs, and at which door.
 *
 * SPEC: a privileged call needs an approval unless its permitting rule says `@approve("none")`; with several
 * determining permits a person is asked only if all of them ask, and then at the console if any of them demands it.
 */
export function approvalDemand(rules: readonly PolicyRule[], tier: SafetyTier): "none" | "human" | "console" {
  let demand: "human" | "console" = "human";
  for (const { approve } of rules) {
    if (approve === "none" || (approve === "unstated" && tier !== "privileged")) return "none";
    if (approve === "console") demand = "console";
  }
  // Without any rule nothing is permitted, and asking is the safe answer.
  return demand;
}
