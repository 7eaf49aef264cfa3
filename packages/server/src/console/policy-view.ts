import { toHex } from "@narthex/contracts";
import type { PolicyFacts } from "@narthex/kernel";
import { toTextView } from "./text-view.ts";

/** Converts the state of the policy for the page. */
export function toPolicyView(facts: PolicyFacts) {
  return {
    hash: toHex(facts.policyHash),
    engine: toTextView(facts.engine),
    rules: facts.ruleCount,
    mode: facts.mode,
    problem: toTextView(facts.problem),
    directory: toTextView(facts.directory),
    fallback: toTextView(facts.fallback),
    warnings: facts.warnings.map(toTextView),
  };
}
