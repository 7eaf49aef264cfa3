import { MAX_INLINE_RESULT_BYTES } from "@narthex/contracts";
import type { InvokedCall } from "../call.ts";
import { chargeResult } from "../charge-stored.ts";
import { type Ending, Failed } from "../ending.ts";
import type { GrantedCall } from "../grant/grant.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { OutputCollector, type OutputPart } from "../output-collector.ts";
import type { Interruption } from "./interruption.ts";

/**
 * Maximum time without yielding: a tool that always has the next chunk ready must not block everything else, its own
 * time-out included.
 */
const MAX_TURN_MS = 10;

/** Gathers a stream as it arrives: redacts it, stores it, and passes it to the listener. */
export async function gatherStream(
  call: GrantedCall,
  kernel: KernelParts,
  interruption: Interruption,
  output: AsyncIterable<Uint8Array>,
): Promise<InvokedCall | Ending> {
  if (call.registered.tool.resultType !== "stream") return invalidOutput(call, "a stream, which it did not declare");
  const collector = new OutputCollector(call, (bytes) => chargeResult(call, bytes), kernel);
  const iterator = output[Symbol.asyncIterator]();
  try {
    const failed = await gather(call, kernel, interruption, iterator, collector);
    if (failed === undefined) return { ...call, output, gathered: collector };
    await giveUp(iterator, collector);
    return failed;
  } catch (fault) {
    await giveUp(iterator, collector);
    throw fault;
  }
}

async function gather(
  call: GrantedCall,
  kernel: KernelParts,
  interruption: Interruption,
  iterator: AsyncIterator<Uint8Array>,
  collector: OutputCollector,
): Promise<Failed | undefined> {
  const listener = createListener(call);
  const take = async (part: OutputPart): Promise<Failed | undefined> => {
    const { returned: chunk, stored = chunk } = part;
    if (chunk.length + stored.length === 0) return undefined;
    if (call.registered.outputSchema !== undefined && collector.size + chunk.length > MAX_INLINE_RESULT_BYTES) {
      return invalidOutput(call, `more than the ${MAX_INLINE_RESULT_BYTES} bytes that can be held against its schema`);
    }
    await collector.store(part);
    if (chunk.length === 0) return undefined;
    return await listener(chunk, interruption);
  };
  let turnMs = kernel.clock.monotonicMs();
  for (;;) {
    if (kernel.clock.monotonicMs() - turnMs > MAX_TURN_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      turnMs = kernel.clock.monotonicMs();
    }
    const next = await interruption.race(iterator.next());
    if (next instanceof Failed) return next;
    if (next.done === true) return take(collector.end());
    if (!(next.value instanceof Uint8Array)) return invalidOutput(call, "something in its stream that is not bytes");
    const failed = await take(collector.push(next.value));
    if (failed !== undefined) return failed;
  }
}

/**
 * Creates the function that passes chunks to the caller. A slow listener slows the tool, within its time-out. One that
 * throws receives no more; the call continues.
 */
function createListener(
  call: GrantedCall,
): (chunk: Uint8Array, interruption: Interruption) => Promise<Failed | undefined> {
  let { onChunk } = call.incoming;
  return async (chunk, interruption) => {
    if (onChunk === undefined) return undefined;
    try {
      const heard = await interruption.race(Promise.resolve(onChunk(chunk)));
      return heard instanceof Failed ? heard : undefined;
    } catch {
      onChunk = undefined;
      return undefined;
    }
  };
}

/** Lets the tool clean up after itself, without waiting for it. */
async function giveUp(iterator: AsyncIterator<Uint8Array>, collector: OutputCollector): Promise<void> {
  void returnFrom(iterator);
  await collector.abort();
}

async function returnFrom(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // The tool was told to stop; whether its clean-up fails does not matter.
  }
}

function invalidOutput(call: GrantedCall, what: string): Failed {
  return new Failed("INVALID_OUTPUT", `\`${call.registered.id}\` returned ${what}`);
}
