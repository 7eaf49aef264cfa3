import { blake3, type ContentRole } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { placeBytes } from "../result/place-bytes.ts";
import { commitContent } from "./commitment.ts";
import type { ContentDraft } from "./record-draft.ts";

/** Named by its plain hash in an entry: there is nothing in it to hide or to erase. */
export async function publicContent(
  role: ContentRole,
  bytes: Uint8Array,
  kernel: Pick<KernelParts, "contentStore" | "random">,
): Promise<ContentDraft> {
  const placed = await placeBytes(bytes, blake3(bytes), kernel.contentStore);
  return commitContent({ role, ...placed }, kernel.random).item;
}
