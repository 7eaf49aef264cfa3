import type { KernelParts } from "../../kernel-parts.ts";
import { writtenPaths } from "../../policy/policy-target.ts";
import type { CheckedCall } from "../call.ts";

/**
 * Inspects the workspace before deciding on a call that writes files there; undefined for other calls, which need no
 * wait.
 */
export function inspectTrustedPaths(call: CheckedCall, { trustedPaths }: KernelParts): Promise<void> | undefined {
  const { registered, input, live, trail } = call;
  const { tool } = registered;
  if (trustedPaths === undefined || tool.needs === undefined || !tool.effects.includes("fs_write")) return undefined;
  const { workspace } = live.session;
  const written = writtenPaths(tool.needs(input, live.toolSession), workspace);
  if (written.length === 0) return undefined;
  return trustedPaths.inspect(workspace, written).then((look) => {
    trail.trustedPathsSnapshot = look;
  });
}
