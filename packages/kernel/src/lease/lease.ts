import type { BudgetLimits } from "../budget/budget.ts";
import type { Capability } from "../capability/capability.ts";
import type { SafetyTier } from "../tool/tool.ts";

/** The authority a session holds. */
export interface Lease {
  readonly id: string;
  readonly parentId: string | undefined;
  /** The session that holds it. */
  readonly holder: string;
  /** Exact names, or a prefix that ends in one `*`. */
  readonly toolPatterns: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly highestTier: SafetyTier;
  readonly budgets: BudgetLimits;
  readonly notBeforeMs: number;
  readonly expiresAtMs: number;
  /** What may be handed on, apart from what the holder may use. */
  readonly delegable: DelegableRights;
  readonly revoked: boolean;
}

export interface DelegableRights {
  readonly toolPatterns: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly highestTier: SafetyTier;
}

/** What a person may ask for when a session is opened; everything left out is the default. */
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
