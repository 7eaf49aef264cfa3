import { PROTECTED_ACTION } from "../protected-action.ts";
import { DETERMINISM_LEVELS, EFFECTS, SAFETY_TIERS, type SafetyTier, type Tool } from "../../tool/tool.ts";

/** Statically known facts about the context of one action of one version of a tool. */
export interface ToolVariant {
  /** The tiers that its calls can have. */
  readonly tiers: readonly SafetyTier[];
  /** All possible values of each string attribute of the context. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  /** The effects that a call can have at most. */
  readonly effects: readonly string[];
  /** Whether every call has exactly these effects. */
  readonly isExact: boolean;
}

/** The properties of a tool that determine the context of its calls. */
export type VariantTool = Pick<
  Tool,
  "name" | "version" | "source" | "isolation" | "tier" | "effects" | "determinism"
> & {
  readonly actions?: readonly string[] | undefined;
  readonly narrow?: unknown;
};

/** The variant for an unknown tool. */
const ANY_TOOL: ToolVariant = {
  tiers: SAFETY_TIERS,
  texts: new Map<string, readonly string[]>([
    ["tier", SAFETY_TIERS],
    ["determinism", DETERMINISM_LEVELS],
  ]),
  effects: EFFECTS,
  isExact: false,
};

/** Returns a lookup from an action to its variants, one for each version of its tool. */
export function toolVariants(tools: readonly VariantTool[]): (action: string) => readonly ToolVariant[] {
  const variants = new Map<string, ToolVariant[]>();
  for (const tool of tools) {
    const variant = variantOf(tool);
    for (const action of new Set([tool.name, ...(tool.actions ?? [])])) {
      const known = variants.get(action) ?? [];
      variants.set(action, [...known, variant]);
    }
  }
  return (action) => (action === PROTECTED_ACTION ? [ANY_TOOL] : (variants.get(action) ?? [ANY_TOOL]));
}

function variantOf(tool: VariantTool): ToolVariant {
  const isExact = tool.narrow === undefined;
  const tiers = isExact ? [tool.tier] : upTo(SAFETY_TIERS, tool.tier);
  const determinism = isExact ? [tool.determinism] : upTo(DETERMINISM_LEVELS, tool.determinism);
  return {
    tiers,
    texts: new Map<string, readonly string[]>([
      ["tool", [tool.name]],
      ["version", [tool.version]],
      ["source", [tool.source]],
      ["isolation", [tool.isolation]],
      ["tier", tiers],
      ["determinism", determinism],
    ]),
    effects: tool.effects,
    isExact,
  };
}

/** The levels up to `most`. A tool can narrow the level of a call but never raise it. */
function upTo<T>(levels: readonly T[], most: T): readonly T[] {
  return levels.slice(0, levels.indexOf(most) + 1);
}
