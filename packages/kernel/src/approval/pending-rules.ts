import type { ApprovalRequest } from "./approval.ts";
import { type RuleSubject, createRuleTextWithId, removeRuleId } from "./rule-text.ts";

/** Rules that people gave as an answer, until they are in force. */
export interface PendingRules {
  /** The one that will cover such a call; undefined if there is none. */
  find(subject: RuleSubject): Promise<void> | undefined;
  /** It is on its way as long as this work takes, whatever comes of it. */
  track(question: ApprovalRequest, work: () => Promise<void>): Promise<void>;
}

export function createPendingRules(): PendingRules {
  /** By their texts without an id. */
  const writing = new Map<string, Promise<void>>();
  return {
    find: (subject) => (writing.size === 0 ? undefined : writing.get(createRuleTextWithId("", subject))),
    async track(question, work) {
      const key = removeRuleId(question);
      const written = Promise.withResolvers<void>();
      writing.set(key, written.promise);
      try {
        await work();
      } finally {
        writing.delete(key);
        written.resolve();
      }
    },
  };
}
