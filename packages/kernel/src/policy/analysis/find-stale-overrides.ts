import type { PolicyRule } from "../policy.ts";

/** An `@overrides` that lifts nothing. */
export interface StaleOverride {
  readonly ruleId: string;
  readonly named: string;
  readonly isKnown: boolean;
}

/** Rules that name in `@overrides` what is no rule of the set, or one that does not say `@approve("always")`. */
export function findStaleOverrides(rules: readonly PolicyRule[]): StaleOverride[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  return rules.flatMap(({ id, overrides }) =>
    overrides
      .filter((named) => byId.get(named)?.approve !== "always")
      .map((named) => ({ ruleId: id, named, isKnown: byId.has(named) })),
  );
}
