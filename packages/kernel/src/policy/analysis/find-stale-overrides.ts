import type { PolicyRule } from "../policy.ts";

/** An `@overrides` that has no effect. */
export interface StaleOverride {
  readonly ruleId: string;
  readonly named: string;
  readonly isKnown: boolean;
}

/** Finds rules whose `@overrides` names an unknown rule, or a rule without `@approve("always")`. */
export function findStaleOverrides(rules: readonly PolicyRule[]): StaleOverride[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  return rules.flatMap(({ id, overrides }) =>
    overrides
      .filter((named) => byId.get(named)?.approve !== "always")
      .map((named) => ({ ruleId: id, named, isKnown: byId.has(named) })),
  );
}
