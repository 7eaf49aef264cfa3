import { create, type PolicyInfo, PolicyInfoSchema } from "@narthex/contracts";
import type { PolicyFacts } from "@narthex/kernel";

/** Converts the policy in force for an administrator. */
export function toPolicyInfo({ ruleCount, warnings, ...facts }: PolicyFacts): PolicyInfo {
  return create(PolicyInfoSchema, { ...facts, ruleCount: BigInt(ruleCount), warnings: [...warnings] });
}
