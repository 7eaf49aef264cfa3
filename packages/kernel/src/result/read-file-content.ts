import { KernelError } from "@narthex/contracts";
import type { ContentStore } from "../ports.ts";

/**
 * Streams a slice of content that is stored in a file.
 *
 * SECURITY: only a read of the whole file is verified against its hash. If a file is longer than its record says, a
 * read of all recorded content would be partial and unverified, so a different size is refused.
 */
export async function* readFileContent(
  files: ContentStore,
  content: { readonly digest: Uint8Array; readonly size: number },
  offset: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  const file = await files.stat(content.digest);
  if (file !== undefined && file.size !== content.size) {
    throw new KernelError("CONTENT_DAMAGED", `stored content has ${file.size} bytes, not ${content.size}`);
  }
  yield* files.read(content.digest, offset, length);
}
