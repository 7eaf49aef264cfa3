import { createId, createToken, hashToken, KernelError } from "@narthex/contracts";
import { createBudgetAccount, isShortfall, type Reservation } from "../budget/budget-account.ts";
import { limitedAmounts } from "../budget/combine-amounts.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { joinLabels } from "../label/join-labels.ts";
import { type DelegatedBudget, delegatedBudgetRow } from "../lease/delegated-budget.ts";
import { createDelegatedLease } from "../lease/create-delegated-lease.ts";
import type { Delegation } from "../lease/delegation.ts";
import type { Lease } from "../lease/lease.ts";
import type { FoundContent } from "../result/content-library.ts";
import { findGrantedContent, grantedItem, joinContentLabels } from "../result/granted-content.ts";
import { checkDelegation } from "./check-delegation.ts";
import { findDelegatingSession } from "./find-delegating-session.ts";
import { delegationDepth, requireLease, rootSession } from "./lineage.ts";
import { LiveSession } from "./live-session.ts";
import { compactBytes } from "./open-session.ts";
import { openingDraft } from "./opening-draft.ts";
import { requireOpen } from "./require-open.ts";

/** Maximum delegation depth. */
const MAX_DEPTH = 16;
/** SECURITY: every session costs memory and disk, and an agent can delegate as often as it likes. */
const MAX_TREE_SESSIONS = 1000;
/** SECURITY: each delegation leaves records behind, even if it is released at once, and no budget counts them. */
const MAX_DELEGATIONS = 100_000;
const SEED_BYTES = 32;

/** Delegates a narrower lease to a new child session. Its token is returned here and is not available later. */
export async function delegateLease(
  delegation: Delegation,
  kernel: KernelParts,
): Promise<{ readonly live: LiveSession; readonly token: string }> {
  const parent = requireOpen(await findDelegatingSession(delegation, kernel), kernel.ledger.nowMs());
  checkDelegation(delegation, parent, kernel.workspaceLabels);
  requireLease(parent, kernel.ledger.nowMs());
  const granted = await findGrantedContent(parent.id, delegation.contentHashes ?? [], kernel.content);
  const id = createId("ses", (length) => kernel.random.bytes(length));
  await kernel.ledger.loadChain(id);
  parent.enter();
  try {
    return await open({ id, parent, delegation, granted }, kernel);
  } catch (fault) {
    kernel.sessions.forget(id);
    throw fault;
  } finally {
    parent.leave();
  }
}

interface Opening {
  /** Id of the child. */
  readonly id: string;
  readonly parent: LiveSession;
  readonly delegation: Delegation;
  readonly granted: readonly FoundContent[];
}

/**
 * INVARIANT: nothing is awaited between the checks and the enqueuing of the record. So two delegations never reserve
 * the same budget, and none is written after its parent was closed or revoked.
 */
async function open(
  { id, parent, delegation, granted }: Opening,
  kernel: KernelParts,
): Promise<{ readonly live: LiveSession; readonly token: string }> {
  const nowMs = kernel.ledger.nowMs();
  requireOpen(parent, nowMs);
  requireLease(parent, nowMs);
  requireRoom(parent);
  const lease = createDelegatedLease({
    id: createId("lea", (length) => kernel.random.bytes(length)),
    holder: id,
    parent: parent.lease,
    remaining: parent.account.remaining(),
    request: delegation.lease ?? {},
    ttlMs: delegation.ttlMs,
    nowMs,
    knownTools: kernel.registry.list({ allVersions: false }).map((registered) => registered.tool.name),
  });
  const token = createToken(id, (length) => kernel.random.bytes(length));
  const live = createChild({ id, lease, token, nowMs, labels: joinContentLabels(granted) }, parent, delegation, kernel);
  const carving: DelegatedBudget = {
    leaseId: lease.id,
    sessionId: id,
    reservation: reserve(parent, lease),
    expiresAtMs: lease.expiresAtMs,
    hasSessionEnded: false,
  };
  parent.delegatedBudgets.set(lease.id, carving);
  rootSession(parent).descendantCount++;
  rootSession(parent).delegationCount++;
  // From now on a revocation or close of the parent includes this child.
  kernel.usedRequestIds.begin(id);
  kernel.sessions.add(live);
  await kernel.ledger.append(
    openingDraft(live, {
      granted: granted.map((content) => grantedItem(content, parent.labels, kernel.random)),
      state: [delegatedBudgetRow(parent.lease.id, carving)],
    }),
  );
  live.noteDurableLabels(live.labels);
  return { live, token };
}

function requireRoom(parent: LiveSession): void {
  if (delegationDepth(parent) >= MAX_DEPTH) {
    throw new KernelError("LEASE_INVALID", `a lease is split at most ${MAX_DEPTH} deep; delegate from one further up`);
  }
  if (rootSession(parent).descendantCount >= MAX_TREE_SESSIONS) {
    throw new KernelError(
      "LEASE_INVALID",
      `at most ${MAX_TREE_SESSIONS} sessions come from one; close some of them first`,
    );
  }
  if (rootSession(parent).delegationCount >= MAX_DELEGATIONS) {
    throw new KernelError("LEASE_INVALID", `a lease is split ${MAX_DELEGATIONS} times at most; open another session`);
  }
}

function reserve(parent: LiveSession, lease: Lease): Reservation {
  const reservation = parent.account.reserve(limitedAmounts(parent.lease.budgets, lease.budgets));
  if (isShortfall(reservation)) throw new KernelError("INTERNAL", "a lease inside its parent's rest found too little");
  return reservation;
}

interface ChildFacts {
  readonly id: string;
  readonly lease: Lease;
  readonly token: string;
  readonly nowMs: number;
  /** Labels of the granted content. */
  readonly labels: readonly string[];
}

function createChild(
  { id, lease, token, nowMs, labels: granted }: ChildFacts,
  parent: LiveSession,
  { agent, workingDirectory, seed, labels = [] }: Delegation,
  kernel: KernelParts,
): LiveSession {
  const { session } = parent;
  return new LiveSession(
    {
      ...session,
      id,
      agent: agent ?? session.agent,
      workingDirectory: workingDirectory ?? session.workingDirectory,
      leaseId: lease.id,
      parentSessionId: session.id,
      seed: compactBytes(seed ?? kernel.random.bytes(SEED_BYTES)),
      tokenHash: compactBytes(hashToken(token)),
      openedAtMs: nowMs,
      calls: 0,
      labels: joinLabels([], [...parent.labels, ...granted, ...labels]),
    },
    lease,
    createBudgetAccount({ limits: lease.budgets, spent: {} }),
    parent,
  );
}
