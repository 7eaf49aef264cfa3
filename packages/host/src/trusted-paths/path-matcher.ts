import { foldName } from "./path-text.ts";

/**
 * Creates a function that tells whether a path is one of these, is below one, or contains one. Paths are relative to
 * the workspace's root.
 *
 * SECURITY: moving or deleting a directory affects everything in it, so directories that contain a path match too.
 */
export function createPathMatcher(paths: readonly string[]): (path: string) => boolean {
  const rules = paths.map((path) => path.split("/").map(partRule));
  return (path) => {
    const parts = foldName(path).split("/");
    return rules.some((rule) => rule.every((fits, index) => index >= parts.length || fits(parts[index] ?? "")));
  };
}

function partRule(part: string): (name: string) => boolean {
  const folded = foldName(part);
  if (!folded.includes("*")) return (name) => name === folded;
  const text = folded.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  const pattern = new RegExp(`^${text}$`, "su");
  return (name) => pattern.test(name);
}
