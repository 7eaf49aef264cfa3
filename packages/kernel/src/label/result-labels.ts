import { OUTSIDE_EFFECTS } from "../tool/effect-rules.ts";
import type { Effect, ToolDeclaration } from "../tool/tool.ts";

/** Whoever wrote it may be anybody. */
export const UNTRUSTED = "untrusted";

const NO_LABELS: readonly string[] = Object.freeze([]);
const UNTRUSTED_ONLY: readonly string[] = Object.freeze([UNTRUSTED]);

/**
 * Labels that a call's result has because of the tool alone: those the tool declares, and `untrusted` for whatever could
 * come from a network, a model or another's server.
 *
 * SECURITY: follows from what the call was granted, not from what it did, so no tool and no port can forget it.
 */
export function resultLabels(
  tool: Pick<ToolDeclaration, "isolation" | "labels">,
  effects: readonly Effect[],
): readonly string[] {
  const { isolation, labels = NO_LABELS } = tool;
  const isOutside =
    isolation === "http" || isolation === "mcp" || effects.some((effect) => OUTSIDE_EFFECTS.has(effect));
  if (!isOutside) return labels;
  return labels.length === 0 ? UNTRUSTED_ONLY : [...new Set([...labels, UNTRUSTED])].sort();
}
