import { BUDGET_DIMENSIONS, type BudgetLimits } from "../budget/budget.ts";
import type { Capability } from "../capability/capability.ts";
import { isWithin } from "../capability/covers.ts";
import type { DelegableRights, Lease } from "./lease.ts";
import { tierWithin } from "./tier.ts";
import { toolPatternWithin } from "./tool-pattern.ts";

const LEASE_DIMENSIONS = [
  "tool_patterns",
  "capabilities",
  "highest_tier",
  "budgets",
  "not_before_ms",
  "expires_at_ms",
  "delegable",
] as const;
export type LeaseDimension = (typeof LEASE_DIMENSIONS)[number];

/**
 * Whether a child lease lies inside what its parent may delegate, in every dimension.
 *
 * INVARIANT: anything a holder of `child` could ever do or hand on, the parent could have handed on. Whether the
 * parent is revoked and how much of its budget is left are questions of the moment, and asked elsewhere.
 */
export function isLeaseSubset(child: Lease, parent: Lease): boolean {
  return exceededDimensions(child, parent).length === 0;
}

/** The dimensions in which the child reaches beyond its parent, for the message that refuses it. */
export function exceededDimensions(child: Lease, parent: Lease): LeaseDimension[] {
  const inside: { readonly [D in LeaseDimension]: boolean } = {
    ...areRightsSubset(child, parent.delegable),
    budgets: areBudgetsSubset(child.budgets, parent.budgets),
    not_before_ms: child.notBeforeMs >= parent.notBeforeMs,
    expires_at_ms: child.expiresAtMs <= parent.expiresAtMs,
    delegable: Object.values(areRightsSubset(child.delegable, parent.delegable)).every((dimension) => dimension),
  };
  return LEASE_DIMENSIONS.filter((dimension) => !inside[dimension]);
}

function areRightsSubset(inner: DelegableRights, outer: DelegableRights) {
  return {
    tool_patterns: findExceedingPatterns(inner, outer).length === 0,
    capabilities: findExceedingCapabilities(inner, outer).length === 0,
    highest_tier: tierWithin(inner.highestTier, outer.highestTier),
  };
}

/** The patterns that no pattern of the other rights holds. */
export function findExceedingPatterns(inner: DelegableRights, outer: DelegableRights): readonly string[] {
  // What was left out of a request is its parent's own list.
  if (inner.toolPatterns === outer.toolPatterns) return [];
  const same = new Set(outer.toolPatterns);
  const wider = outer.toolPatterns.filter((pattern) => pattern.endsWith("*"));
  return inner.toolPatterns.filter(
    (pattern) => !same.has(pattern) && !wider.some((outerPattern) => toolPatternWithin(pattern, outerPattern)),
  );
}

export function findExceedingCapabilities(inner: DelegableRights, outer: DelegableRights): readonly Capability[] {
  if (inner.capabilities === outer.capabilities) return [];
  return inner.capabilities.filter((capability) => !isWithin([capability], outer.capabilities));
}

/** Absent is unlimited, so a limit of the parent's must be a limit of the child's. */
function areBudgetsSubset(inner: BudgetLimits, outer: BudgetLimits): boolean {
  return BUDGET_DIMENSIONS.every((dimension) => {
    const limit = outer[dimension];
    return limit === undefined || (inner[dimension] ?? Number.POSITIVE_INFINITY) <= limit;
  });
}
