import { SAFETY_TIERS, type SafetyTier } from "../tool/tool.ts";

/** Whether a tier is at or below `highest`. */
export function tierWithin(tier: SafetyTier, highest: SafetyTier): boolean {
  const rank = SAFETY_TIERS.indexOf(tier);
  return rank !== -1 && rank <= SAFETY_TIERS.indexOf(highest);
}
