import { createId, createToken, hashToken, KernelError } from "@narthex/contracts";
import { createBudgetAccount, isShortfall, type Reservation } from "../budget/budget-account.ts";
import { amountsUnder } from "../budget/combine-amounts.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { joinLabels } from "../label/join-labels.ts";
import { type Carving, carvingRow } from "../lease/carving.ts";
import { createDelegatedLease } from "../lease/create-delegated-lease.ts";
import type { Delegation } from "../lease/delegation.ts";
import type { Lease } from "../lease/lease.ts";
import type { FoundContent } from "../result/content-library.ts";
import { findGranted, grantedItem, labelsOf } from "../result/granted-content.ts";
import { checkDelegation } from "./check-delegation.ts";
import { findDelegating } from "./find-delegating.ts";
import { depthOf, requireLease, rootOf } from "./lineage.ts";
import { LiveSession } from "./live-session.ts";
import { compactBytes } from "./open-session.ts";
import { openingDraft } from "./opening-draft.ts";
import { requireOpen } from "./require-open.ts";

/** How often a lease may be split, one off the other. */
const MAX_DEPTH = 16;
/** SECURITY: every session costs memory and disk, and an agent splits its lease as often as it likes. */
const MAX_TREE = 1000;
/** SECURITY: each leaves records behind, also one that is released at once, and no budget counts them. */
const MAX_SPLITS = 100_000;
const SEED_BYTES = 32;

/** Splits a narrower lease off a session's own, held by a session of its own. Its token is told once, and only here. */
export async function delegateLease(
  delegation: Delegation,
  kernel: KernelParts,
): Promise<{ readonly live: LiveSession; readonly token: string }> {
  const parent = requireOpen(await findDelegating(delegation, kernel), kernel.ledger.nowMs());
  checkDelegation(delegation, parent, kernel.workspaceLabels);
  requireLease(parent, kernel.ledger.nowMs());
  const granted = await findGranted(parent.id, delegation.contentHashes ?? [], kernel.content);
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
  /** Of the child. */
  readonly id: string;
  readonly parent: LiveSession;
  readonly delegation: Delegation;
  readonly granted: readonly FoundContent[];
}

/**
 * INVARIANT: from the checks to the record's place in line nothing is awaited. Two delegations never carve the same
 * budget, and none is written after its parent was closed or revoked.
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
  const live = createChild({ id, lease, token, nowMs, labels: labelsOf(granted) }, parent, delegation, kernel);
  const carving: Carving = {
    leaseId: lease.id,
    sessionId: id,
    reservation: reserve(parent, lease),
    expiresAtMs: lease.expiresAtMs,
    ended: false,
  };
  parent.carvings.set(lease.id, carving);
  rootOf(parent).descendants++;
  rootOf(parent).splits++;
  // Whoever revokes or closes the parent from now on finds it.
  kernel.requests.begin(id);
  kernel.sessions.add(live);
  await kernel.ledger.append(
    openingDraft(live, {
      granted: granted.map((content) => grantedItem(content, parent.labels, kernel.random)),
      state: [carvingRow(parent.lease.id, carving)],
    }),
  );
  live.noteDurableLabels(live.labels);
  return { live, token };
}

function requireRoom(parent: LiveSession): void {
  if (depthOf(parent) >= MAX_DEPTH) {
    throw new KernelError("LEASE_INVALID", `a lease is split at most ${MAX_DEPTH} deep; delegate from one further up`);
  }
  if (rootOf(parent).descendants >= MAX_TREE) {
    throw new KernelError("LEASE_INVALID", `at most ${MAX_TREE} sessions come from one; close some of them first`);
  }
  if (rootOf(parent).splits >= MAX_SPLITS) {
    throw new KernelError("LEASE_INVALID", `a lease is split ${MAX_SPLITS} times at most; open another session`);
  }
}

function reserve(parent: LiveSession, lease: Lease): Reservation {
  const reservation = parent.account.reserve(amountsUnder(parent.lease.budgets, lease.budgets));
  if (isShortfall(reservation)) throw new KernelError("INTERNAL", "a lease inside its parent's rest found too little");
  return reservation;
}

interface ChildFacts {
  readonly id: string;
  readonly lease: Lease;
  readonly token: string;
  readonly nowMs: number;
  /** Of what it is granted. */
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
