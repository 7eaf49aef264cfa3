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
 * Whether a child lease is within what its parent may delegate, in every dimension.
 *
 * INVARIANT: every right that a holder of `child` could use or delegate, the parent could have delegated. Whether the
 * parent is revoked and how much of its budget remains depends on the moment and is checked elsewhere.
 */
export function isLeaseSubset(child: Lease, parent: Lease): boolean {
  return exceededDimensions(child, parent).length === 0;
}

/** The dimensions in which the child exceeds its parent, for the error message. */
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

/** The patterns of `inner` that no pattern of `outer` covers. */
export function findExceedingPatterns(inner: DelegableRights, outer: DelegableRights): readonly string[] {
  // An omitted list in a request is the parent's own list object.
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

/** An absent limit means unlimited, so every limit of the parent must also be set in the child. */
function areBudgetsSubset(inner: BudgetLimits, outer: BudgetLimits): boolean {
  return BUDGET_DIMENSIONS.every((dimension) => {
    const limit = outer[dimension];
    return limit === undefined || (inner[dimension] ?? Number.POSITIVE_INFINITY) <= limit;
  });
}
