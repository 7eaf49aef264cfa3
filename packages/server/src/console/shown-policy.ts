import { toHex } from "@narthex/contracts";
import type { PolicyFacts } from "@narthex/kernel";
import { shownText } from "./shown-text.ts";

/** The state of the policy, as the page shows it. */
export function shownPolicy(facts: PolicyFacts) {
  return {
    hash: toHex(facts.policyHash),
    engine: shownText(facts.engine),
    rules: facts.ruleCount,
    mode: facts.mode,
    problem: shownText(facts.problem),
    directory: shownText(facts.directory),
    fallback: shownText(facts.fallback),
    warnings: facts.warnings.map(shownText),
  };
}
