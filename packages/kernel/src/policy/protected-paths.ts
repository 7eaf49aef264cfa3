/** Says of a path, relative to a workspace's root, whether it is protected, holds such a path, or lies below one. */
export type ProtectedPaths = (path: string) => boolean;

/**
 * Paths are protected in every directory of a workspace. A `*` stands for any part of one name.
 *
 * SECURITY: names are compared without regard to case, because some file systems do: `.GIT/config` is `.git/config`.
 */
export function createProtectedPaths(patterns: readonly string[]): ProtectedPaths {
  const rules = patterns.map((pattern) => pattern.split("/").map(partRule));
  return (path) => {
    const parts = path.normalize("NFC").toLowerCase().split("/");
    return rules.some((rule) => parts.some((_, start) => fits(rule, parts, start)));
  };
}

/** Either ends before the other: what lies below is protected as well, and so is what holds it. */
function fits(rule: readonly RegExp[], parts: readonly string[], start: number): boolean {
  const length = Math.min(rule.length, parts.length - start);
  for (let index = 0; index < length; index++) {
    if (rule[index]?.test(parts[start + index] ?? "") !== true) return false;
  }
  return true;
}

function partRule(part: string): RegExp {
  const text = part
    .normalize("NFC")
    .toLowerCase()
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${text.replaceAll("*", ".*")}$`, "u");
}
