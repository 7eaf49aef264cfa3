import { toHex } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { PrintedOutput } from "../../tool/tool.ts";
import { chargeContent } from "../charge-stored.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { OutputCollector } from "../output-collector.ts";

/** Stores content as it arrives, to be named by the call's outcome. After a failure nothing stays behind. */
export async function keepContent(
  call: PermittedCall,
  guard: () => void,
  chunks: AsyncIterable<Uint8Array>,
  kernel: KernelParts,
): Promise<PrintedOutput> {
  guard();
  const collector = new OutputCollector(call, (bytes) => chargeContent(call, bytes), kernel);
  try {
    for await (const chunk of chunks) {
      guard();
      await collector.store(collector.push(chunk));
    }
    await collector.store(collector.end());
    const { stored, returned } = await collector.finish();
    guard();
    const { digest, size, head, tail } = returned;
    if (size > 0) call.trail.outputs.push(stored);
    return { hash: toHex(digest), size, head, tail };
  } catch (fault) {
    await collector.abort();
    throw fault;
  }
}
