/** Whether a path, relative to a workspace's root, is protected, contains a protected path or lies below one. */
export type ProtectedPaths = (path: string) => boolean;

/**
 * Compiles the patterns. They match in every directory of a workspace; a `*` stands for any part of one name.
 *
 * SECURITY: names are compared case-insensitively, because some file systems do: `.GIT/config` is `.git/config`.
 */
export function createProtectedPaths(patterns: readonly string[]): ProtectedPaths {
  const byFirst = new Map<string, PartRule[][]>();
  for (const pattern of patterns) {
    const parts = pattern.split("/");
    const first = fold(parts[0] ?? "");
    // Patterns whose first name contains a `*` are compared with every name.
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

/**
 * Compares up to the end of the shorter one: everything below a protected path matches, and so do its parent
 * directories.
 */
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
