import type { KernelParts } from "../kernel-parts.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import type { ErasureTarget } from "./erasure.ts";

/** Items of one record: its entries and the tombstones become durable together. */
export const MAX_ERASED_PER_RECORD = 2048;

/** Why the kernel erases by itself. */
export const RETENTION = { reason: "retention", by: "" };

/**
 * INVARIANT: the entry that says so and the tombstone are one transaction; files go after it. So at no moment is anything
 * gone that the ledger does not say is erased.
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
 * From the last record to the first: what a later record of a call only names lies in an earlier one, and a reader must
 * never find the name without the bytes.
 */
export function inErasingOrder(targets: readonly ErasureTarget[]): ErasureTarget[] {
  return targets.toSorted((left, right) => right.recordIndex - left.recordIndex || left.item - right.item);
}
