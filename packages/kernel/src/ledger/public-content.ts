import { blake3, type ContentRole } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { placeBytes } from "../result/place-bytes.ts";
import { commitContent } from "./commitment.ts";
import type { ContentDraft } from "./record-draft.ts";

/**
 * Stores content that an entry names by its plain hash: it is public and never erased. It is not searched for secrets:
 * a word in it may equal a secret by chance, and if it were changed, nothing that depends on it could be verified.
 */
export async function publicContent(
  role: ContentRole,
  bytes: Uint8Array,
  kernel: Pick<KernelParts, "publicStore" | "random">,
): Promise<ContentDraft> {
  const placed = await placeBytes(bytes, blake3(bytes), kernel.publicStore);
  return commitContent({ role, ...placed }, kernel.random).item;
}
