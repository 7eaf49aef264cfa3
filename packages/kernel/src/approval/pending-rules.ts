import type { ApprovalRequest } from "./approval.ts";
import { type RuleSubject, createRuleTextWithId, removeRuleId } from "./rule-text.ts";

/** Rules that users gave as a decision and that are not yet in force. */
export interface PendingRules {
  /** Returns the pending rule that will cover such a call; undefined if none exists. */
  find(subject: RuleSubject): Promise<void> | undefined;
  /** Treats the rule as pending until this work settles, whether or not it succeeds. */
  track(question: ApprovalRequest, work: () => Promise<void>): Promise<void>;
}

export function createPendingRules(): PendingRules {
  /** By rule text without an id. */
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
