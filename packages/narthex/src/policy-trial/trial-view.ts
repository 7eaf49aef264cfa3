import type { JsonObject } from "@narthex/contracts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import type { ChangeGroup, Trial } from "./try-policy.ts";

const WORDS = { deny: "deny", allow: "allow", human: "ask", console: "ask at the console" } as const;

export function trialToJson({ decisions, unchanged, changed, groups, notEvaluated }: Trial): JsonObject {
  return {
    decisions,
    unchanged,
    changed,
    changes: groups.map(({ from, to, action, rulesBefore, rulesAfter, count, examples }) => ({
      from,
      to,
      action,
      rules_before: [...rulesBefore],
      rules_after: [...rulesAfter],
      count,
      examples: examples.map(({ index, chain, requestId, about }) => ({
        record_index: index,
        session_id: chain,
        request_id: requestId,
        about,
      })),
    })),
    not_evaluated: Object.fromEntries(notEvaluated),
  };
}

export function printChanges(groups: readonly ChangeGroup[], terminal: Terminal): void {
  for (const { from, to, action, rulesBefore, rulesAfter, count, examples } of groups) {
    const rules = `${rulesBefore.join(", ") || "no rule"} -> ${rulesAfter.join(", ") || "no rule"}`;
    terminal.print(visible(`  ${WORDS[from]} -> ${WORDS[to]}  ${formatCount(count)}  ${action}  (${rules})`));
    for (const { index, chain, requestId, about } of examples) {
      terminal.print(visible(`      record ${index}  ${chain}/${requestId}${about === "" ? "" : `  ${about}`}`));
    }
  }
}

/** Decisions that could not be evaluated are always reported: otherwise they would be taken for unchanged. */
export function printNotEvaluated(unjudged: Trial["notEvaluated"], terminal: Terminal): void {
  for (const [reason, count] of unjudged) terminal.print(`could not be evaluated: ${formatCount(count)} (${reason})`);
}
