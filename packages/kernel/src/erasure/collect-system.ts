import { ContentRole, fromHex } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { appendErasures, MAX_ERASED_PER_RECORD, RETENTION } from "./append-erasures.ts";
import type { ErasureTarget } from "./erasure.ts";
import { readChain, toErasureTarget } from "./read-targets.ts";

/** Index from which the system's chain may still hold something to collect, per kernel. */
const marks = new WeakMap<KernelParts, number>();

/**
 * Erases old inputs of calls that clients ran themselves and only asked the kernel to decide, where they belong to no
 * session. Everything else in the system's chain is public: policies and tool definitions.
 */
export async function collectSystem(
  { endedBeforeMs, dryRun }: { readonly endedBeforeMs: number; readonly dryRun: boolean },
  kernel: KernelParts,
): Promise<readonly ErasureTarget[]> {
  const targets: ErasureTarget[] = [];
  let next = marks.get(kernel) ?? 0;
  for await (const record of readChain(SYSTEM_CHAIN, kernel.store, next)) {
    if (Number(record.message.wallTimeMs) >= endedBeforeMs || targets.length >= MAX_ERASED_PER_RECORD) break;
    for (const [position, item] of record.items.entries()) {
      const target = item.role === ContentRole.INPUT ? toErasureTarget(record, position, item) : undefined;
      if (target !== undefined) targets.push(target);
    }
    next = record.index + 1;
  }
  if (dryRun) return targets;
  const erased = await kernel.erasureLock.withExclusive(async () => {
    const free = kernel.contentUses.hold(targets.map(({ digest }) => digest));
    try {
      const unused = targets.filter(({ digest: name }) => {
        const digest = fromHex(name);
        return digest === undefined || !kernel.contentUses.isInUse(digest);
      });
      if (unused.length > 0) await appendErasures(unused, RETENTION, kernel);
      return unused;
    } finally {
      free();
    }
  });
  // If some content was in use, the next round checks the same records again.
  if (erased.length === targets.length) marks.set(kernel, next);
  return erased;
}
