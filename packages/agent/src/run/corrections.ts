import type { CallOutcome } from "../session/execute-call.ts";
import type { StreamedCall } from "../stream/call-delta.ts";

/** Counts for how many messages in a row a model gets a tool's arguments wrong. */
export interface Corrections {
  /** The calls of one message, and what became of each. */
  note(calls: readonly StreamedCall[], outcomes: readonly (CallOutcome | undefined)[]): void;
  /** A tool was called wrongly more often than a model may try again. */
  readonly isExhausted: boolean;
}

/** SECURITY: names come from the model, so calls of tools that it made up count together. */
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
