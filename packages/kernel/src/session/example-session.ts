import { createBudgetAccount } from "../budget/budget-account.ts";
import type { Capability } from "../capability/capability.ts";
import { createLease, DEFAULT_LEASE_TTL_MS } from "../lease/create-lease.ts";
import { LiveSession } from "./live-session.ts";

/** Workspace of sessions that specify none. */
const WORKSPACE = "/workspace";
const ID = "ses_aaaaaaaaaaaaaaaaaaaa";

/**
 * Creates a session that was never opened, with the default lease and `more`, to explain how policy would decide in it.
 */
export function exampleSession(
  knownTools: readonly string[],
  nowMs: number,
  labels: readonly string[] = [],
  more: readonly Capability[] = [],
): LiveSession {
  const granted = createLease({
    id: "lea_aaaaaaaaaaaaaaaaaaaa",
    holder: ID,
    request: undefined,
    defaults: { budgets: {}, ttlMs: DEFAULT_LEASE_TTL_MS },
    nowMs,
    knownTools,
    workspace: WORKSPACE,
  });
  const lease = { ...granted, capabilities: [...granted.capabilities, ...more] };
  const session = {
    id: ID,
    tenant: "default",
    user: "user",
    agent: "agent",
    workspace: WORKSPACE,
    workingDirectory: WORKSPACE,
    leaseId: lease.id,
    parentSessionId: undefined,
    seed: new Uint8Array(32),
    tokenHash: new Uint8Array(32),
    openedAtMs: nowMs,
    expiresAtMs: lease.expiresAtMs,
    state: "open",
    calls: 0,
    labels: [...labels].sort(),
    level: "",
  } as const;
  return new LiveSession(session, lease, createBudgetAccount({ limits: lease.budgets, spent: {} }));
}
