import type { KernelParts } from "../../kernel-parts.ts";
import { writtenPaths } from "../../policy/policy-target.ts";
import type { CheckedCall } from "../call.ts";

/** Looks at the workspace before a call is decided that writes files there. Nothing to wait for with other calls. */
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
