import type { KernelParts } from "../kernel-parts.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import { rootSession } from "../session/lineage.ts";
import type { LiveSession } from "../session/live-session.ts";
import { OUTSIDE_EFFECTS } from "../tool/effect-rules.ts";
import type { Effect, Redactor } from "../tool/tool.ts";
import type { CallTrail } from "./call-trail.ts";

const NONE: readonly Redactor[] = Object.freeze([]);

interface StartedCall {
  readonly trail: CallTrail;
  readonly live: LiveSession;
  readonly registered: RegisteredTool;
  readonly effects: readonly Effect[];
}

/**
 * Returns redactors for the secrets that are hidden from the caller.
 *
 * SECURITY: secrets that the caller itself supplied are not hidden, or `echo GUESS` would tell whether the guess is
 * right. What a caller wrote into its workspace it may read again later, so for the workspace all of its earlier inputs
 * count; content from elsewhere may contain the real secret, so there only this call's input counts. See
 * docs/decisions/0033.
 */
export function redactorsForCaller(
  { trail, live, registered, effects }: StartedCall,
  kernel: KernelParts,
): readonly Redactor[] {
  const ofTool = registered.tool.redactors ?? NONE;
  if (ofTool.length === 0) return ofTool;
  const { isolation } = registered.tool;
  const isOutside =
    isolation === "http" || isolation === "mcp" || effects.some((effect) => OUTSIDE_EFFECTS.has(effect));
  const given = isOutside ? trail.inputSecrets : rootSession(live).inputSecrets;
  return given.size === 0 ? ofTool : kernel.secrets.without(ofTool, given);
}

/** Returns redactors for the secrets that are hidden in the stored data of a call. */
export function redactorsForRecord(
  { registered }: Pick<StartedCall, "registered">,
  kernel: KernelParts,
): readonly Redactor[] {
  return kernel.secrets.redactorsForStorage(registered.tool.redactors ?? NONE);
}
