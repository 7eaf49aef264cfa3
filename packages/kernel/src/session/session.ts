import type { LeaseRequest } from "../lease/lease.ts";

export type SessionState = "open" | "closed" | "expired" | "quarantined";

/** One session of an agent. Only the hash of its token is kept. */
export interface Session {
  readonly id: string;
  readonly tenant: string;
  readonly user: string;
  readonly agent: string;
  /** Absolute, real path. */
  readonly workspace: string;
  readonly workingDirectory: string;
  readonly leaseId: string;
  readonly parentSessionId: string | undefined;
  /** 32 bytes. */
  readonly seed: Uint8Array;
  readonly tokenHash: Uint8Array;
  readonly openedAtMs: number;
  readonly expiresAtMs: number;
  readonly state: SessionState;
  /** Number of calls granted so far; the next call has the next number. */
  readonly calls: number;
  readonly labels: readonly string[];
  /** The containment level at its start; empty if it was not examined. */
  readonly level: string;
}

export interface OpenSessionOptions {
  readonly workspace: string;
  readonly workingDirectory?: string;
  readonly tenant?: string;
  readonly user?: string;
  readonly agent?: string;
  readonly seed?: Uint8Array;
  readonly lease?: LeaseRequest;
  readonly ttlMs?: number;
  /** Initial labels. */
  readonly labels?: readonly string[];
  /** Hands a workspace that belongs to root over to the user that sandboxes run as. */
  readonly adopt?: boolean;
}
