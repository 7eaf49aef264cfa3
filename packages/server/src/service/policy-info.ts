import { create, type PolicyInfo, PolicyInfoSchema } from "@narthex/contracts";
import type { PolicyFacts } from "@narthex/kernel";

/** The policy in force, as an administrator sees it. */
export function toPolicyInfo({ ruleCount, warnings, ...facts }: PolicyFacts): PolicyInfo {
  return create(PolicyInfoSchema, { ...facts, ruleCount: BigInt(ruleCount), warnings: [...warnings] });
}
