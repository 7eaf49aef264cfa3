import type { ToolOutput } from "../../tool/tool.ts";
import type { InvokedCall } from "../call.ts";
import { type Ending, Failed } from "../ending.ts";
import { type GrantedCall, verifyGrant } from "../grant/grant.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { gatherStream } from "./gather-stream.ts";
import { Interruption } from "./interruption.ts";
import { toolFailed } from "./tool-failed.ts";

/** Runs the tool in its isolation class, under its grant and against its clock. */
export async function invoke(call: GrantedCall, kernel: KernelParts): Promise<InvokedCall | Ending> {
  verifyGrant(call);
  const interruption = new Interruption(call.grant, call.trail.running);
  let ended: InvokedCall | Ending | undefined;
  try {
    ended =
      interruption.failed === undefined ? await run(call, kernel, interruption) : notStarted(call, interruption.failed);
  } catch (fault) {
    ended = toolFailed(call, kernel, fault);
  } finally {
    interruption.dispose();
    call.grant.end(ended instanceof Failed ? "the call has failed" : undefined);
  }
  return ended;
}

async function run(call: GrantedCall, kernel: KernelParts, interruption: Interruption): Promise<InvokedCall | Ending> {
  const output = await runInline(call, kernel, interruption);
  if (output instanceof Failed) return output;
  if (!isStream(output)) return { ...call, output, gathered: undefined };
  return gatherStream(call, kernel, interruption, output);
}

/** Cancelled while its intent was written: nothing was done, and the outcome says so. */
function notStarted(call: GrantedCall, failed: Failed): Failed {
  call.trail.effectsPossible = false;
  return failed;
}

/** A tool that answers at once is not raced against anything. */
async function runInline(
  call: GrantedCall,
  kernel: KernelParts,
  interruption: Interruption,
): Promise<Exclude<ToolOutput, PromiseLike<unknown>> | Failed> {
  const answered = call.registered.tool.run(call.input, call.grant.context);
  if (!isThenable(answered)) return answered;
  const running = Promise.resolve(answered);
  const first = await interruption.race(running);
  if (!(first instanceof Failed)) return first;
  // Whatever the tool says from now on is too late: dropped, counted, and no unhandled rejection.
  running.then(
    () => kernel.counters.lateResults++,
    () => kernel.counters.lateResults++,
  );
  return first;
}

/** SECURITY: not only promises: any thenable would be waited for by `await`, past every time-out. */
function isThenable(output: ToolOutput | PromiseLike<ToolOutput>): output is PromiseLike<ToolOutput> {
  return typeof output === "object" && output !== null && "then" in output && typeof output.then === "function";
}

function isStream(output: ToolOutput): output is AsyncIterable<Uint8Array> {
  return typeof output === "object" && output !== null && Symbol.asyncIterator in output;
}
