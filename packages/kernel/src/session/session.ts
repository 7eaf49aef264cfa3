import type { LeaseRequest } from "../lease/lease.ts";

export type SessionState = "open" | "closed" | "expired" | "quarantined";

/** One agent's stay. The token itself is known only to its holder. */
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
  /** How many calls were granted so far: the next one's number is one more. */
  readonly calls: number;
  readonly labels: readonly string[];
  /** The containment level it began under; empty where nothing was examined. */
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
  /** That it has from the start. */
  readonly labels?: readonly string[];
  /** Hands a workspace of root's to the user that sandboxes run as. */
  readonly adopt?: boolean;
}
