import type { Capability } from "../capability/capability.ts";
import { EFFECT_CAPABILITIES } from "./effect-rules.ts";
import type { Effect, Tool } from "./tool.ts";

/**
 * The capabilities that a call with these effects requires: all that its tool declares, except those needed only for
 * effects that this call does not have.
 */
export function requiredCapabilities(tool: Tool, effects: readonly Effect[]): readonly Capability[] {
  if (effects.length === tool.effects.length) return tool.capabilities;
  const left = tool.effects.filter((effect) => !effects.includes(effect));
  const isNeeded = (of: readonly Effect[], { kind }: Capability): boolean =>
    of.some((effect) => EFFECT_CAPABILITIES[effect].includes(kind));
  return tool.capabilities.filter((capability) => isNeeded(effects, capability) || !isNeeded(left, capability));
}
