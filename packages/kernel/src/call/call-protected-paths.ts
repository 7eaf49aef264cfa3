import type { KernelParts } from "../kernel-parts.ts";
import type { ProtectedPaths } from "../policy/protected-paths.ts";
import type { CallTrail } from "./call-trail.ts";

/**
 * Returns the paths that are protected from this call: by name, or because of the workspace's content when it was last
 * inspected.
 */
export function callProtectedPaths(
  { trail }: { readonly trail: Pick<CallTrail, "trustedPathsSnapshot"> },
  { isProtected }: Pick<KernelParts, "isProtected">,
): ProtectedPaths {
  const { trustedPathsSnapshot } = trail;
  return trustedPathsSnapshot === undefined
    ? isProtected
    : (path) => isProtected(path) || trustedPathsSnapshot.isTrusted(path);
}
