import { KernelError } from "@narthex/contracts";
import type { FileResult } from "@narthex/kernel";

/** Reads all bytes of a file result. Throws if there are more than `maxBytes`. */
export async function collectBytes(answer: FileResult, maxBytes: number, instead: string): Promise<Uint8Array> {
  if (answer.kind !== "read") throw new KernelError("INTERNAL", "a reading was not answered by what was read");
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.content) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new KernelError("RESOURCE_EXCEEDED", `the file is larger than ${maxBytes} bytes; use ${instead}`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
