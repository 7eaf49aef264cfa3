import { fromHex, KernelError } from "@narthex/contracts";
import { eraseArtifact } from "../artifact/erased-artifact.ts";
import type { KernelParts } from "../kernel-parts.ts";
import type { StateChange } from "../ports.ts";
import { appendErasures, MAX_ERASED_PER_RECORD, inErasingOrder } from "./append-erasures.ts";
import type { Erasure, ErasureReport, ErasureTarget } from "./erasure.ts";
import { erasedCallRows, requireSettled } from "./erased-calls.ts";
import { finishErasing } from "./finish-erasing.ts";
import { type HashPlan, planHashes, planSince } from "./plan-hashes.ts";
import { planSession } from "./plan-session.ts";
import { unfinishedErasureRow, removedErasureRow } from "./unfinished-erasure.ts";

const MAX_REASON = 500;
const MAX_NAMED = 1000;
/** How long to wait for running calls that use the content. */
const WAIT_MS = 10_000;
const POLL_MS = 20;

/**
 * Erases content permanently. Every item that references it becomes a tombstone, in the same transaction as the entries
 * that record the erasure; then it is removed from the index, its files, the logs and every remaining place in the
 * store's files.
 */
export async function eraseContent(erasure: Erasure, kernel: KernelParts): Promise<ErasureReport> {
  checkErasure(erasure);
  return kernel.erasureLock.withExclusive(async () => {
    const since = kernel.ledger.durableCount();
    const plan = await planAll(erasure, kernel);
    if (plan.targets.length === 0) {
      if (erasure.dryRun || erasure.sessionIds.length > 0) return reportOf(plan, [], 0);
      throw new KernelError("CONTENT_NOT_FOUND", "there is no content with that hash: it never was, or it was erased");
    }
    if (erasure.dryRun) return reportOf(plan, [], 0);
    const free = await holdUnused(plan, kernel);
    try {
      const whole = await withNewest(plan, since, kernel);
      const recordIndexes = await write(erasure, whole, kernel);
      const nonces = whole.targets.map(({ nonce }) => nonce);
      return reportOf(whole, recordIndexes, await finishErasing(kernel, nonces));
    } finally {
      free();
    }
  });
}

/** Adds references that were recorded while the ledger was read. After this no new ones are possible. */
async function withNewest(plan: Plan, since: number, { store }: KernelParts): Promise<Plan> {
  const names = new Set(plan.targets.map(({ digest }) => digest));
  const newest = await planSince(names, since, store);
  return { ...plan, targets: once([...plan.targets, ...newest]) };
}

function once(targets: readonly ErasureTarget[]): ErasureTarget[] {
  return [...new Map(targets.map((target) => [`${target.recordIndex}/${target.item}`, target])).values()];
}

interface Plan extends HashPlan {
  readonly heldByOthers: number;
}

async function planAll({ hashes, sessionIds }: Erasure, kernel: KernelParts): Promise<Plan> {
  const named = hashes.length === 0 ? undefined : await planHashes(hashes, kernel.store);
  const sessions = [];
  for (const sessionId of sessionIds) sessions.push(await planSession(sessionId, kernel));
  const plans = [...(named === undefined ? [] : [named]), ...sessions];
  return {
    targets: once(plans.flatMap(({ targets }) => targets)),
    calls: named?.calls ?? new Set(),
    artifacts: plans.flatMap(({ artifacts }) => artifacts),
    heldByOthers: sessions.reduce((sum, { heldByOthers }) => sum + heldByOthers, 0),
  };
}

/**
 * Waits until no running call uses the content, then makes it impossible to find. Throws CONTENT_IN_USE after
 * `WAIT_MS`.
 */
async function holdUnused(plan: Plan, kernel: KernelParts): Promise<() => void> {
  const digests = [...new Set(plan.targets.map(({ digest }) => digest))];
  const until = kernel.clock.monotonicMs() + WAIT_MS;
  for (;;) {
    await requireSettled(plan, kernel);
    const isBusy = isRunning(plan, kernel) || digests.some((name) => isInUse(name, kernel));
    if (!isBusy) return kernel.contentUses.hold(digests);
    if (kernel.clock.monotonicMs() >= until) {
      throw new KernelError("CONTENT_IN_USE", "a running call has this content in hand: wait for it or cancel it");
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function isInUse(name: string, { contentUses }: KernelParts): boolean {
  const digest = fromHex(name);
  return digest !== undefined && contentUses.isInUse(digest);
}

function isRunning({ calls }: Plan, { sessions }: KernelParts): boolean {
  for (const live of sessions.live()) {
    if (live.running.list().some(({ requestId }) => calls.has(`${live.id}/${requestId}`))) return true;
  }
  return false;
}

async function write(erasure: Erasure, plan: Plan, kernel: KernelParts): Promise<number[]> {
  const { reason, by } = erasure;
  const digests = new Set(plan.targets.map(({ digest }) => digest));
  const state: StateChange[] = [
    ...(await erasedCallRows(plan.calls, kernel)),
    ...(await kernel.approvals.forgetInputs(digests, by)),
  ];
  for (const { tenant, artifactId } of plan.artifacts) {
    state.push(...(await eraseArtifact(tenant, artifactId, kernel.store)));
  }
  kernel.responses.clear();
  kernel.heldContent.clear();
  const ordered = inErasingOrder(plan.targets);
  const indexes: number[] = [];
  for (let from = 0; from < ordered.length; from += MAX_ERASED_PER_RECORD) {
    const isLast = from + MAX_ERASED_PER_RECORD >= ordered.length;
    const rows = [...(from === 0 ? state : []), isLast ? removedErasureRow() : unfinishedErasureRow(erasure)];
    indexes.push(await appendErasures(ordered.slice(from, from + MAX_ERASED_PER_RECORD), { reason, by }, kernel, rows));
  }
  // Responses stored while the erasure was written.
  kernel.responses.clear();
  kernel.heldContent.clear();
  return indexes;
}

function reportOf(plan: Plan, recordIndexes: readonly number[], files: number): ErasureReport {
  return {
    items: plan.targets.length,
    records: new Set(plan.targets.map(({ recordIndex }) => recordIndex)).size,
    bytes: countBytes(plan.targets),
    files,
    recordIndexes,
    heldByOthers: plan.heldByOthers,
  };
}

/** Total size, counting each digest once. */
export function countBytes(targets: readonly ErasureTarget[]): number {
  const sizes = new Map(targets.map(({ digest, size }) => [digest, size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

function checkErasure({ hashes, sessionIds, reason, by }: Erasure): void {
  const refuse = (field: string, message: string): never => {
    throw new KernelError("INVALID_INPUT", message, { violations: [{ field, rule: "range", message }] });
  };
  const named = hashes.length + sessionIds.length;
  if (named === 0) refuse("hashes", "name content by its hash, or a session");
  if (named > MAX_NAMED) refuse("hashes", `name at most ${MAX_NAMED} contents and sessions at once`);
  if (hashes.some((hash) => hash.length !== 32)) refuse("hashes", "a hash has 32 bytes");
  for (const [field, text] of [["reason", reason] as const, ["by", by] as const]) {
    if (text.trim() === "") refuse(field, `\`${field}\` is written into the ledger and cannot be empty`);
    if (text.length > MAX_REASON || !text.isWellFormed())
      refuse(field, `\`${field}\` has at most ${MAX_REASON} characters`);
  }
}
