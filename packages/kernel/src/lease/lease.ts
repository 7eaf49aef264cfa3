import type { BudgetLimits } from "../budget/budget.ts";
import type { Capability } from "../capability/capability.ts";
import type { SafetyTier } from "../tool/tool.ts";

/** The authority of a session. */
export interface Lease {
  readonly id: string;
  readonly parentId: string | undefined;
  /** Session that holds the lease. */
  readonly holder: string;
  /** Exact names, or prefixes that end in one `*`. */
  readonly toolPatterns: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly highestTier: SafetyTier;
  readonly budgets: BudgetLimits;
  readonly notBeforeMs: number;
  readonly expiresAtMs: number;
  /** Rights that the holder may delegate, independent of those it may use itself. */
  readonly delegable: DelegableRights;
  readonly revoked: boolean;
}

export interface DelegableRights {
  readonly toolPatterns: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly highestTier: SafetyTier;
}

/** The rights requested when a session is opened; omitted fields get their defaults. */
export interface LeaseRequest {
  readonly tool_patterns?: readonly string[];
  readonly capabilities?: readonly Capability[];
  readonly highest_tier?: SafetyTier;
  readonly budgets?: BudgetLimits;
  readonly not_before_ms?: number;
  readonly ttl_ms?: number;
  readonly delegable?: {
    readonly tool_patterns?: readonly string[];
    readonly capabilities?: readonly Capability[];
    readonly highest_tier?: SafetyTier;
  };
}
