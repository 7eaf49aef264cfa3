import type { ToolOutput } from "../../tool/tool.ts";
import type { InvokedCall } from "../call.ts";
import { type Ending, Failed } from "../ending.ts";
import { type GrantedCall, verifyGrant } from "../grant/grant.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { gatherStream } from "./gather-stream.ts";
import { Interruption } from "./interruption.ts";
import { listWithheldOutputs } from "./list-withheld-outputs.ts";
import { toToolFailure } from "./tool-failure.ts";

/** Killing cannot fail, but a disk can be slow to take the output. */
const MAX_KILL_MS = 5000;

/**
 * Runs the tool in its isolation class, under its grant and its time-out. A tool that returns synchronously is not
 * raced.
 */
export function invoke(call: GrantedCall, kernel: KernelParts): InvokedCall | Ending | Promise<InvokedCall | Ending> {
  verifyGrant(call);
  const interruption = new Interruption(call.grant, call.trail.running);
  // Cancelled while its intent was written: nothing was done, and the outcome says so.
  if (interruption.failed !== undefined) return end(call, interruption, interruption.failed);
  // A tool that is not port-bound can change anything as soon as it runs.
  if (!call.registered.isPortBound) call.trail.cancelToolEffect = call.trail.beginEffect();
  try {
    const answered = call.registered.tool.run(call.input, call.grant.context);
    if (isThenable(answered) || isStream(answered)) return follow(call, kernel, interruption, answered);
    return end(call, interruption, { ...call, output: answered, gathered: undefined });
  } catch (fault) {
    return end(call, interruption, toToolFailure(call, kernel, fault));
  }
}

/** Waits for the tool: up to its end, its time-out or a cancellation. */
async function follow(
  call: GrantedCall,
  kernel: KernelParts,
  interruption: Interruption,
  answered: PromiseLike<ToolOutput> | AsyncIterable<Uint8Array>,
): Promise<InvokedCall | Ending> {
  try {
    const output = isThenable(answered) ? await awaitOutput(answered, kernel, interruption) : answered;
    if (output instanceof Failed) return await waitForPrograms(call, interruption, output);
    if (!isStream(output)) return end(call, interruption, { ...call, output, gathered: undefined });
    return end(call, interruption, await gatherStream(call, kernel, interruption, output));
  } catch (fault) {
    return end(call, interruption, toToolFailure(call, kernel, fault));
  }
}

/**
 * Waits for the programs of an interrupted call. They are killed with it, and their output is kept, which takes a
 * moment.
 */
async function waitForPrograms(
  call: GrantedCall,
  interruption: Interruption,
  failed: Failed,
): Promise<InvokedCall | Ending> {
  call.grant.end(failed.message);
  const gone = call.trail.waitForPrograms();
  if (gone !== undefined) await atMost(MAX_KILL_MS, gone);
  return end(call, interruption, failed);
}

async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}

/** Ends the call: from here on every port of the tool's context is closed. */
function end(call: GrantedCall, interruption: Interruption, ended: InvokedCall | Ending): InvokedCall | Ending {
  const { trail } = call;
  interruption.dispose();
  call.grant.end(ended instanceof Failed ? "the call has failed" : undefined);
  if (trail.redecisionRefusal === undefined) return ended instanceof Failed ? listWithheldOutputs(ended, trail) : ended;
  // SECURITY: however the tool handled the refusal, the call was denied.
  return trail.redecisionRefusal;
}

async function awaitOutput(
  answered: PromiseLike<ToolOutput>,
  kernel: KernelParts,
  interruption: Interruption,
): Promise<ToolOutput | Failed> {
  const running = Promise.resolve(answered);
  const first = await interruption.race(running);
  if (!(first instanceof Failed)) return first;
  // A result that comes later is dropped and counted, and causes no unhandled rejection.
  running.then(
    () => kernel.counters.lateResults++,
    () => kernel.counters.lateResults++,
  );
  return first;
}

/**
 * Whether an output must be awaited.
 *
 * SECURITY: not only promises: `await` would wait for any thenable, past every time-out.
 */
function isThenable(output: ToolOutput | PromiseLike<ToolOutput>): output is PromiseLike<ToolOutput> {
  return typeof output === "object" && output !== null && "then" in output && typeof output.then === "function";
}

function isStream(output: ToolOutput): output is AsyncIterable<Uint8Array> {
  return typeof output === "object" && output !== null && Symbol.asyncIterator in output;
}
