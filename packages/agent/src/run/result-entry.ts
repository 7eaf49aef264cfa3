import type { ExecutedCall } from "../session/execute-call.ts";
import type { ResultEntry } from "./transcript.ts";

/** Converts an outcome to a transcript entry. The kernel returns an omitted text again for the same request id. */
export function toResultEntry(turn: number, at: number, { outcome, recorded }: ExecutedCall): ResultEntry {
  const { status, requestId, cost, text } = outcome;
  const entry = { type: "result", turn, at, status, requestId, cost } as const;
  if (recorded === undefined) return { ...entry, text };
  return "words" in recorded ? { ...entry, text: recorded.words } : entry;
}
