import { fromHex } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";

const ROWS_AT_ONCE = 256;

/**
 * Removes what tombstones leave behind: index entries, files and logs. Content that another item holds keeps its file;
 * content that a running call may still reference is left for the next time. Returns the number of removed files.
 */
export async function finishErasing(
  kernel: Pick<KernelParts, "store" | "contentStore">,
  scrub: readonly Uint8Array[] | undefined,
): Promise<number> {
  const { store, contentStore } = kernel;
  let files = 0;
  let after: string | undefined;
  const ended: Uint8Array[] = [];
  for (;;) {
    const rows = await store.listState("erasing", "", ROWS_AT_ONCE, after);
    after = rows.at(-1)?.key;
    if (after === undefined) break;
    const digests = rows.map(({ key }) => fromHex(key)).filter((digest) => digest !== undefined);
    await store.forgetErased(digests);
    for (const digest of digests) {
      const before = await contentStore.stat(digest);
      const isHeld = async (): Promise<boolean> => (await store.findContent(digest)).length > 0;
      if (!(await contentStore.removeUnused(digest, isHeld))) continue;
      ended.push(digest);
      if (before !== undefined && (await contentStore.stat(digest)) === undefined) files++;
    }
  }
  if (ended.length > 0) await store.endErasing(ended, scrub);
  return files;
}
