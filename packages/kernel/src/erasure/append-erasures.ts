import type { KernelParts } from "../kernel-parts.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import type { ErasureTarget } from "./erasure.ts";

/** Maximum number of items in one erasure record. The record's entries and the tombstones become durable together. */
export const MAX_ERASED_PER_RECORD = 2048;

/** Reason recorded when the kernel erases content because of its retention limits. */
export const RETENTION = { reason: "retention", by: "" };

/**
 * Records the erasure of items and turns them into tombstones.
 *
 * INVARIANT: the entry that records an erasure and the tombstone are written in one transaction; files are removed
 * afterwards. So content is never missing without a ledger entry that says it was erased.
 */
export async function appendErasures(
  targets: readonly ErasureTarget[],
  why: { readonly reason: string; readonly by: string },
  kernel: Pick<KernelParts, "ledger">,
  state: readonly StateChange[] = [],
): Promise<number> {
  const erasures = targets.map(({ recordIndex, item }) => ({ recordIndex, item }));
  const { index } = await kernel.ledger.append({
    chain: SYSTEM_CHAIN,
    entries: erasures.map((erased) => ({ case: "contentErased", value: { ...erased, ...why } })),
    erasures,
    state,
  });
  return index;
}

/**
 * Sorts items from the last record to the first. A later record of a call may only reference content that an earlier
 * record holds, and a reader must never find the reference without the bytes.
 */
export function inErasingOrder(targets: readonly ErasureTarget[]): ErasureTarget[] {
  return targets.toSorted((left, right) => right.recordIndex - left.recordIndex || left.item - right.item);
}
