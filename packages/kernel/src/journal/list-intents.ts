import { fromHex } from "@narthex/contracts";
import type { IntentFacts } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { intentFromRow } from "./intent.ts";

const MAX_INTENTS = 100_000;

/** Lists calls that may have effects and have no outcome: running calls, and calls whose outcome is unknown. */
export async function listIntents(kernel: KernelParts): Promise<IntentFacts[]> {
  const rows = await kernel.store.listState("intents", "", MAX_INTENTS);
  return rows.map(intentFromRow).flatMap((intent) => {
    if (intent.settledIndex !== undefined) return [];
    const { sessionId, requestId, tool, recordIndex, startedAtMs } = intent;
    // A session that is not in memory has no running calls.
    const isRunning = kernel.sessions.inMemory(sessionId)?.unsettled.has(requestId) === false;
    const inputDigest = fromHex(intent.inputDigest) ?? new Uint8Array(0);
    return [
      { sessionId, requestId, tool, inputDigest, recordIndex, startedAtMs, state: isRunning ? "running" : "unknown" },
    ];
  });
}
