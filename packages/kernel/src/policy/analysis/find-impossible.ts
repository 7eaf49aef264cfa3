import type { JsonValue } from "@narthex/contracts";
import { type AnalysedSet, analysedRules, factsOfMatch } from "./analysed-rules.ts";

/** A rule that no call can match. */
export interface ImpossibleRule {
  readonly ruleId: string;
  /** The condition that is false or contradicts an earlier one; undefined if the rule applies to no action at all. */
  readonly condition: JsonValue | undefined;
}

/** Finds rules that can never match a call of these tools. Reports only what is proven. */
export function findImpossible(set: AnalysedSet): ImpossibleRule[] {
  return analysedRules(set).flatMap((analysed) => {
    let condition: JsonValue | undefined;
    for (const action of analysed.actions) {
      for (const variant of set.variantsOf(action)) {
        const { impossible } = factsOfMatch(analysed, action, variant, set);
        if (impossible === undefined) return [];
        condition ??= impossible;
      }
    }
    return [{ ruleId: analysed.rule.id, condition }];
  });
}
