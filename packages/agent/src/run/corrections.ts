import type { CallOutcome } from "../session/execute-call.ts";
import type { StreamedCall } from "../stream/call-delta.ts";

/** Counts in how many consecutive messages a model calls a tool with invalid arguments. */
export interface Corrections {
  /** Counts the calls of one message with their outcomes. */
  note(calls: readonly StreamedCall[], outcomes: readonly (CallOutcome | undefined)[]): void;
  /** Whether some tool was called wrongly more often than allowed. */
  readonly isExhausted: boolean;
}

/** SECURITY: names come from the model, so all calls of unknown tools share one count. */
export function createCorrections(limit: number, isKnown: (name: string) => boolean): Corrections {
  const wrong = new Map<string, number>();
  return {
    note(calls, outcomes) {
      const wellFormed = new Map<string, boolean>();
      for (const [at, { name }] of calls.entries()) {
        const tool = isKnown(name) ? name : "";
        wellFormed.set(tool, wellFormed.get(tool) === true || outcomes[at]?.status !== "malformed");
      }
      for (const [tool, isRight] of wellFormed) wrong.set(tool, isRight ? 0 : (wrong.get(tool) ?? 0) + 1);
    },
    get isExhausted() {
      return [...wrong.values()].some((count) => count > limit);
    },
  };
}
