import { toHex } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import { ContentCollector } from "../../result/content-collector.ts";
import { createStreamRedactor } from "../../result/redact.ts";
import type { PrintedOutput } from "../../tool/tool.ts";
import { chargeContent } from "../charge-stored.ts";
import type { PermittedCall } from "../decide/decide.ts";

/** Takes content in as it comes, for the call's outcome to name. What fails on the way leaves nothing behind. */
export async function keepContent(
  call: PermittedCall,
  guard: () => void,
  chunks: AsyncIterable<Uint8Array>,
  kernel: KernelParts,
): Promise<PrintedOutput> {
  guard();
  const collector = new ContentCollector(kernel.contentStore, (bytes) => chargeContent(call, bytes));
  const redactor = createStreamRedactor(call.registered.tool.redactors ?? []);
  try {
    for await (const chunk of chunks) {
      guard();
      await collector.write(redactor.push(chunk));
    }
    await collector.write(redactor.end());
    const collected = await collector.finish();
    guard();
    const { digest, size, head } = collected;
    if (size > 0) call.trail.outputs.push(collected);
    return { hash: toHex(digest), size, head };
  } catch (fault) {
    await collector.abort();
    throw fault;
  }
}
