import { KernelError } from "@narthex/contracts";
import type { Settlement } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { intentFromRow, intentKey } from "./intent.ts";
import { settleIntent } from "./settle-intent.ts";

const MAX_NAME = 256;

/** A person says what became of a call whose outcome nobody knows. Throws INTENT_NOT_FOUND for any other. */
export async function settleManually(
  settlement: Settlement,
  kernel: KernelParts,
): Promise<{ readonly recordIndex: number }> {
  const { sessionId, requestId, answer } = settlement;
  const key = intentKey(sessionId, requestId);
  const value = await kernel.store.getState("intents", key);
  const intent = value && intentFromRow({ key, value });
  // What was read may be the intent of a call that ran meanwhile; a session knows those that nobody ran to their end.
  const isRunning = kernel.sessions.inMemory(sessionId)?.unsettled.has(requestId) === false;
  if (intent === undefined || intent.settledIndex !== undefined || isRunning || kernel.settlingIntents.has(key)) {
    throw new KernelError("INTENT_NOT_FOUND", "no call with that session and request id has an unknown outcome");
  }
  // INVARIANT: one settlement at a time for a call; a second would settle what has an outcome.
  kernel.settlingIntents.add(key);
  try {
    const by = settlement.by.slice(0, MAX_NAME).toWellFormed();
    return await settleIntent(intent, { answer, by }, kernel);
  } finally {
    kernel.settlingIntents.delete(key);
  }
}
