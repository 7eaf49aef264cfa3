import type { KernelParts } from "../kernel-parts.ts";
import type { StateChange } from "../ports.ts";
import type { PermittedCall } from "./decide/decide.ts";

/** Records durably that a path holds a file of the vault, before the file is placed or moved there. */
export async function recordPlacedFile(
  { trail, live, requestId }: PermittedCall,
  state: readonly StateChange[],
  kernel: KernelParts,
): Promise<void> {
  if (state.length === 0) return;
  const { labels } = trail;
  // The request id must lead to the call, not to this record.
  const draft = { chain: live.id, requestId, foundById: false, state } as const;
  await kernel.ledger.append({ ...draft, entries: [{ case: "labelsAdopted", value: { labels } }] });
}
