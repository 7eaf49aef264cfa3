import assert from "node:assert/strict";
import type { CrashHome } from "../rounds/crash-home.ts";
import { planCall } from "../rounds/load-call.ts";
import { readEffects } from "../rounds/load-tools.ts";
import type { MachineKernel } from "./machine-kernel.ts";

/** Hands out the calls of a load, each once. */
export class CallSource {
  readonly seed: number;
  readonly #given = new Set<string>();
  #next = 0;

  constructor(seed: number) {
    this.seed = seed;
  }

  take(count: number, isWanted: (tool: string) => boolean = () => true): string[] {
    const taken: string[] = [];
    while (taken.length < count) {
      const { requestId, tool } = planCall(this.seed, 0, this.#next++);
      if (this.#given.has(requestId) || !isWanted(tool)) continue;
      this.#given.add(requestId);
      taken.push(requestId);
    }
    return taken;
  }
}

const BATCH = 10;
const MOST_BATCHES = 300;
/** What a kernel may say that cannot keep its ledger: nothing was done, or nobody knows. */
const STOPPED = /^error (?:STORE_UNAVAILABLE|OUTCOME_UNKNOWN)$/;

/** Makes calls until one is refused. Fails if any is answered with anything but a success or that refusal. */
export async function callUntilFailure(kernel: MachineKernel, source: CallSource): Promise<void> {
  for (let batch = 0; batch < MOST_BATCHES; batch++) {
    const answers = await kernel.call(...source.take(BATCH));
    const others = answers.filter((answer) => !answer.startsWith("success "));
    for (const answer of others) assert.match(answer, STOPPED);
    if (others.length > 0) return;
  }
  assert.fail(`${BATCH * MOST_BATCHES} calls were answered on a machine that fails`);
}

/** A kernel whose store has failed does nothing more: no answer, no effect. */
export async function assertStopped(at: CrashHome, kernel: MachineKernel, source: CallSource): Promise<void> {
  const before = await readEffects(at.effects);
  const answers = await kernel.call(...source.take(BATCH), ...source.take(2, (tool) => tool === "stamp"));
  for (const answer of answers) assert.equal(answer, "error STORE_UNAVAILABLE");
  assert.deepEqual(await readEffects(at.effects), before, "something was done that could not be recorded");
}
