import { OUTSIDE_EFFECTS } from "../tool/effect-rules.ts";
import type { Effect, ToolDeclaration } from "../tool/tool.ts";

/** Label of content whose author is unknown. */
export const UNTRUSTED = "untrusted";

const NO_LABELS: readonly string[] = Object.freeze([]);
const UNTRUSTED_ONLY: readonly string[] = Object.freeze([UNTRUSTED]);

/**
 * Labels that a call's result carries because of its tool: the labels that the tool declares, and `untrusted` for any
 * result that could come from a network, a model or another party's server.
 *
 * SECURITY: derived from what the call was granted, not from what it did, so no tool and no port can omit it.
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
