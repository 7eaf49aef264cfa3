import { KernelError } from "@narthex/contracts";
import type { Settlement } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { intentFromRow, intentKey } from "./intent.ts";
import { settleIntent } from "./settle-intent.ts";

const MAX_NAME = 256;

/** Settles a call with an unknown outcome as a person decided. Throws INTENT_NOT_FOUND for any other call. */
export async function settleManually(
  settlement: Settlement,
  kernel: KernelParts,
): Promise<{ readonly recordIndex: number }> {
  const { sessionId, requestId, answer } = settlement;
  const key = intentKey(sessionId, requestId);
  const value = await kernel.store.getState("intents", key);
  const intent = value && intentFromRow({ key, value });
  // The intent may belong to a call that is still running; the session lists calls that were interrupted in
  // `unsettled`.
  const isRunning = kernel.sessions.inMemory(sessionId)?.unsettled.has(requestId) === false;
  if (intent === undefined || intent.settledIndex !== undefined || isRunning || kernel.settlingIntents.has(key)) {
    throw new KernelError("INTENT_NOT_FOUND", "no call with that session and request id has an unknown outcome");
  }
  // INVARIANT: one settlement at a time per call; a second one would settle a call that already has an outcome.
  kernel.settlingIntents.add(key);
  try {
    const by = settlement.by.slice(0, MAX_NAME).toWellFormed();
    return await settleIntent(intent, { answer, by }, kernel);
  } finally {
    kernel.settlingIntents.delete(key);
  }
}
