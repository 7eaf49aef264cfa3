/** Says of a path, relative to a workspace's root, whether it is protected, holds such a path, or lies below one. */
export type ProtectedPaths = (path: string) => boolean;

/**
 * Paths are protected in every directory of a workspace. A `*` stands for any part of one name.
 *
 * SECURITY: names are compared without regard to case, because some file systems do: `.GIT/config` is `.git/config`.
 */
export function createProtectedPaths(patterns: readonly string[]): ProtectedPaths {
  const byFirst = new Map<string, PartRule[][]>();
  for (const pattern of patterns) {
    const parts = pattern.split("/");
    const first = fold(parts[0] ?? "");
    // Rules that begin with a `*` are compared with every name.
    const key = first.includes("*") ? "" : first;
    byFirst.set(key, [...(byFirst.get(key) ?? []), parts.map(partRule)]);
  }
  const open = byFirst.get("") ?? [];
  return (path) => {
    const parts = fold(path).split("/");
    return parts.some((part, start) =>
      [...open, ...(byFirst.get(part) ?? [])].some((rule) => fits(rule, parts, start)),
    );
  };
}

type PartRule = (name: string) => boolean;

/** Either ends before the other: what lies below is protected as well, and so is what holds it. */
function fits(rule: readonly PartRule[], parts: readonly string[], start: number): boolean {
  const length = Math.min(rule.length, parts.length - start);
  for (let index = 0; index < length; index++) {
    if (rule[index]?.(parts[start + index] ?? "") !== true) return false;
  }
  return true;
}

function partRule(part: string): PartRule {
  const folded = fold(part);
  if (!folded.includes("*")) return (name) => name === folded;
  const text = folded.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  const pattern = new RegExp(`^${text.replaceAll("*", ".*")}$`, "su");
  return (name) => pattern.test(name);
}

function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
