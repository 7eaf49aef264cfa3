import type { BudgetAmounts } from "../budget/budget.ts";
import type { LeaseRequest } from "./lease.ts";

/** Whose lease is split: the session of this token, or, for an administrator, the one with this id. */
export type DelegatingSession =
  | { readonly token: string; readonly sessionId?: never; readonly isOwn?: never }
  | {
      readonly sessionId: string;
      readonly token?: never;
      /** The session itself asks: a door has looked at its token. */
      readonly isOwn?: boolean;
    };

/** Whether a session asks for itself, and no administrator for it. */
export function isRequestedBySession({ token, isOwn = false }: DelegatingSession): boolean {
  return token !== undefined || isOwn;
}

/** A narrower lease split off a session's own, for a session of its own. What is left out is the parent's. */
export type Delegation = DelegatingSession & {
  readonly lease?: LeaseRequest;
  /** Where the lease itself does not say how long it lasts. */
  readonly ttlMs?: number;
  /** Only an administrator may name another than the parent's: rules go by it. */
  readonly agent?: string;
  /** In the parent's workspace. */
  readonly workingDirectory?: string;
  readonly seed?: Uint8Array;
  /** Besides the parent's. */
  readonly labels?: readonly string[];
  /** Content that the parent may name, and the child from then on too. */
  readonly contentHashes?: readonly Uint8Array[];
  /** Need not be given; if they are, they must be the parent's. */
  readonly workspace?: string;
  readonly tenant?: string;
  readonly user?: string;
};

/** Ends a lease that was split off a session's own, at any depth. */
export type LeaseRelease = DelegatingSession & { readonly leaseId: string };

export interface ReleasedLease {
  /** What came back to the lease it was split off, of each dimension that has a limit there. */
  readonly budgetReturned: BudgetAmounts;
}

export interface Revocation {
  readonly leaseId: string;
  readonly reason: string;
  /** Who says so. */
  readonly by: string;
}

export interface RevokedLeases {
  /** The lease itself first, then all below it. */
  readonly leaseIds: readonly string[];
  /** Calls that ran under them. */
  readonly cancelledCalls: number;
}
