import type { RationaleCode } from "@narthex/contracts";
import type { SafetyTier } from "../tool/tool.ts";
import type { Lease } from "./lease.ts";
import { tierWithin } from "./tier.ts";
import { toolPatternCovers } from "./tool-pattern.ts";

export interface LeaseCheck {
  readonly toolName: string;
  readonly tier: SafetyTier;
  readonly nowMs: number;
}

/**
 * Returns why the lease refuses this call, or undefined if it allows it. Capabilities and budgets are checked
 * separately.
 */
export function checkLease(lease: Lease, check: LeaseCheck): RationaleCode | undefined {
  const problem = leaseProblem(lease, check.nowMs);
  if (problem !== undefined) return problem;
  if (!leaseAllowsTool(lease, check.toolName)) return "LEASE_SCOPE";
  if (!tierWithin(check.tier, lease.highestTier)) return "TIER_NOT_ALLOWED";
  return undefined;
}

/** Returns why a lease grants nothing at this time, whatever the request is. */
export function leaseProblem(lease: Lease, nowMs: number): "LEASE_REVOKED" | "LEASE_EXPIRED" | undefined {
  if (lease.revoked) return "LEASE_REVOKED";
  // SECURITY: written so that a time that is not a number counts as expired.
  return nowMs >= lease.notBeforeMs && nowMs < lease.expiresAtMs ? undefined : "LEASE_EXPIRED";
}

export function leaseAllowsTool(lease: Lease, toolName: string): boolean {
  return lease.toolPatterns.some((pattern) => toolPatternCovers(pattern, toolName));
}
