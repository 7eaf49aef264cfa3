import type { BudgetAmounts } from "../budget/budget.ts";
import type { LeaseRequest } from "./lease.ts";

/** Session whose lease is delegated: the session of this token or, for an administrator, the one with this id. */
export type DelegatingSession =
  | { readonly token: string; readonly sessionId?: never; readonly isOwn?: never }
  | {
      readonly sessionId: string;
      readonly token?: never;
      /** The session itself makes the request: the door has already verified its token. */
      readonly isOwn?: boolean;
    };

/** Whether the session itself makes the request, not an administrator on its behalf. */
export function isRequestedBySession({ token, isOwn = false }: DelegatingSession): boolean {
  return token !== undefined || isOwn;
}

/** Delegates a narrower lease from a session's own to a new session. Omitted fields are inherited from the parent. */
export type Delegation = DelegatingSession & {
  readonly lease?: LeaseRequest;
  /** Used if the lease request does not state its lifetime. */
  readonly ttlMs?: number;
  /** Only an administrator may name another agent than the parent's, because rules refer to it. */
  readonly agent?: string;
  /** Directory in the parent's workspace. */
  readonly workingDirectory?: string;
  readonly seed?: Uint8Array;
  /** In addition to the parent's labels. */
  readonly labels?: readonly string[];
  /** Content that the parent may name; from then on the child may name it too. */
  readonly contentHashes?: readonly Uint8Array[];
  /** Optional; if given, these must equal the parent's. */
  readonly workspace?: string;
  readonly tenant?: string;
  readonly user?: string;
};

/** Ends a child lease of a session's own lease, at any depth. */
export type LeaseRelease = DelegatingSession & { readonly leaseId: string };

export interface ReleasedLease {
  /** Budget returned to the parent lease, for each dimension that is limited there. */
  readonly budgetReturned: BudgetAmounts;
}

export interface Revocation {
  readonly leaseId: string;
  readonly reason: string;
  /** Name of the person who revokes the lease. */
  readonly by: string;
}

export interface RevokedLeases {
  /** The revoked lease first, then all leases below it. */
  readonly leaseIds: readonly string[];
  /** Number of calls that ran under these leases. */
  readonly cancelledCalls: number;
}
