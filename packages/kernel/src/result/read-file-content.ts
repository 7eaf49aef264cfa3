import { KernelError } from "@narthex/contracts";
import type { ContentStore } from "../ports.ts";

/**
 * Streams a slice of content that lies in a file.
 *
 * SECURITY: only the read of a whole file is checked against its hash. A file longer than its record says would be
 * read in part, and unchecked, by everyone who asks for all of the content.
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
