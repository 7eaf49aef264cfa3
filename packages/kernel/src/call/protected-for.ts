import type { KernelParts } from "../kernel-parts.ts";
import type { ProtectedPaths } from "../policy/protected-paths.ts";
import type { CallTrail } from "./call-trail.ts";

/** What is protected from this call: by name, or because of the workspace's content when it was last looked at. */
export function protectedFor(
  { trail }: { readonly trail: Pick<CallTrail, "trusted"> },
  { isProtected }: Pick<KernelParts, "isProtected">,
): ProtectedPaths {
  const { trusted } = trail;
  return trusted === undefined ? isProtected : (path) => isProtected(path) || trusted.isTrusted(path);
}
