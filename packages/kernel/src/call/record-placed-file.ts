import type { KernelParts } from "../kernel-parts.ts";
import type { StateChange } from "../ports.ts";
import type { PermittedCall } from "./decide/decide.ts";

/** Makes it durable, before a file of the vault is placed or moved, that the path is one of the vault's. */
export async function recordPlacedFile(
  { trail, live, requestId }: PermittedCall,
  state: readonly StateChange[],
  kernel: KernelParts,
): Promise<void> {
  if (state.length === 0) return;
  const { labels } = trail;
  // The request id stands for the call, not for this.
  const draft = { chain: live.id, requestId, foundById: false, state } as const;
  await kernel.ledger.append({ ...draft, entries: [{ case: "labelsAdopted", value: { labels } }] });
}
