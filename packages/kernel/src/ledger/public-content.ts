import { blake3, type ContentRole } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { placeBytes } from "../result/place-bytes.ts";
import { commitContent } from "./commitment.ts";
import type { ContentDraft } from "./record-draft.ts";

/**
 * Named by its plain hash in an entry: there is nothing in it to hide or to erase. A word of it may be a secret by chance; without
 * it nothing that rests on it could be verified.
 */
export async function publicContent(
  role: ContentRole,
  bytes: Uint8Array,
  kernel: Pick<KernelParts, "publicStore" | "random">,
): Promise<ContentDraft> {
  const placed = await placeBytes(bytes, blake3(bytes), kernel.publicStore);
  return commitContent({ role, ...placed }, kernel.random).item;
}
