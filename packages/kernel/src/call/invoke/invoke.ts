import { isKernelError } from "@narthex/contracts";
import { collectContent } from "../../result/collect-content.ts";
import { createStreamRedactor, redactText } from "../../result/redact.ts";
import type { ToolOutput } from "../../tool/tool.ts";
import type { InvokedCall } from "../call.ts";
import { type Ending, Failed } from "../ending.ts";
import { type GrantedCall, verifyGrant } from "../grant/grant.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { chargeStored } from "../charge-stored.ts";
import { createInterruption, type Interruption } from "./interruption.ts";

/** Runs the tool in its isolation class, under its grant and against its clock. */
export async function invoke(call: GrantedCall, kernel: KernelParts): Promise<InvokedCall | Ending> {
  verifyGrant(call);
  const interruption = createInterruption(call.grant, call.trail.running?.signal);
  try {
    const output = await runInline(call, kernel, interruption);
    if (output instanceof Failed) return output;
    if (!isStream(output)) return { ...call, output, collected: undefined };
    return await runStream(call, kernel, interruption, output);
  } catch (fault) {
    return failed(call, kernel, fault);
  } finally {
    interruption.dispose();
  }
}

/** A tool that answers at once is not raced against anything. */
async function runInline(call: GrantedCall, kernel: KernelParts, interruption: Interruption): Promise<ToolOutput | Failed> {
  const running = call.registered.tool.run(call.input, call.grant.context);
  if (!(running instanceof Promise)) return running;
  const first = await interruption.race(running);
  if (!(first instanceof Failed)) return first;
  // Whatever the tool says from now on is too late: dropped, counted, and no unhandled rejection.
  running.then(
    () => kernel.counters.lateResults++,
    () => kernel.counters.lateResults++,
  );
  return first;
}

async function runStream(
  call: GrantedCall,
  kernel: KernelParts,
  interruption: Interruption,
  output: AsyncIterable<Uint8Array>,
): Promise<InvokedCall | Ending> {
  const redactor = createStreamRedactor(call.registered.tool.redactors ?? []);
  const collector = collectContent(kernel.contentStore, (bytes) => chargeStored(call, bytes));
  const iterator = output[Symbol.asyncIterator]();
  const deliver = async (chunk: Uint8Array): Promise<void> => {
    if (chunk.length === 0) return;
    await collector.write(chunk);
    await call.frame.onChunk?.(chunk);
  };
  try {
    for (;;) {
      const next = await interruption.race(iterator.next());
      if (next instanceof Failed) {
        void Promise.resolve(iterator.return?.()).catch(() => undefined);
        await collector.abort();
        return next;
      }
      if (next.done === true) break;
      if (!(next.value instanceof Uint8Array)) {
        await collector.abort();
        return new Failed("INVALID_OUTPUT", `\`${call.registered.id}\` streamed something that is not bytes`);
      }
      await deliver(redactor.push(next.value));
    }
    await deliver(redactor.end());
    return { ...call, output, collected: await collector.finish() };
  } catch (fault) {
    await collector.abort();
    throw fault;
  }
}

function isStream(output: ToolOutput): output is AsyncIterable<Uint8Array> {
  return typeof output === "object" && output !== null && Symbol.asyncIterator in output;
}

/** A tool's own coded error stands; anything else says only that it failed, and the cause goes to the operator. */
function failed(call: GrantedCall, kernel: KernelParts, fault: unknown): Failed {
  const redactors = call.registered.tool.redactors ?? [];
  const text = redactText(fault instanceof Error ? fault.message : String(fault), redactors);
  kernel.log("warn", "a tool failed", { tool: call.registered.id, request: call.requestId, cause: text });
  const message = `\`${call.registered.id}\` failed: ${text.slice(0, 500)}`;
  if (isKernelError(fault)) {
    const coded = Failed.from(fault, "EXECUTION_FAILED", message);
    return new Failed(coded.code, redactText(coded.message, redactors), coded);
  }
  return new Failed("EXECUTION_FAILED", message);
}
