import { KernelError } from "@narthex/contracts";
import type { FileResult } from "@narthex/kernel";

/** All of what was read, if it is not too much. */
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
