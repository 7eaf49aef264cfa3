/** Separator between the name of an MCP server and the name of its tool. */
const SERVER_MARK = "__";

const PATTERN = /^[a-z][a-z0-9_]{0,63}\*?$|^\*$/;

/** Whether the text is an exact tool name, a prefix that ends in one `*`, or `*` alone. */
export function isToolPattern(text: string): boolean {
  return PATTERN.test(text);
}

/**
 * Whether a pattern covers a tool's name.
 *
 * SECURITY: a tool of an MCP server is covered only by its exact name or by a pattern that contains `server__`.
 * Otherwise adding a server named `github` would put its tools into every lease that has `git*`.
 */
export function toolPatternCovers(pattern: string, name: string): boolean {
  if (!pattern.endsWith("*")) return pattern === name;
  const prefix = pattern.slice(0, -1);
  return !prefix.includes("*") && name.startsWith(prefix) && spellsOutServer(prefix, name);
}

/** Whether every name that `inner` can cover is covered by `outer`. */
export function toolPatternWithin(inner: string, outer: string): boolean {
  if (!inner.endsWith("*")) return toolPatternCovers(outer, inner);
  if (!outer.endsWith("*")) return false;
  const narrow = inner.slice(0, -1);
  const wide = outer.slice(0, -1);
  if (narrow.includes("*") || wide.includes("*")) return false;
  return narrow.startsWith(wide) && spellsOutServer(wide, narrow);
}

/**
 * Expands a bare `*` when a lease is granted: to the tool names known now, without those of MCP servers. Tools
 * registered later are not covered.
 */
export function expandToolPatterns(patterns: readonly string[], knownTools: readonly string[]): string[] {
  const expanded = new Set<string>();
  for (const pattern of patterns) {
    if (pattern !== "*") expanded.add(pattern);
    else for (const name of knownTools) if (toolPatternCovers("*", name)) expanded.add(name);
  }
  return [...expanded].sort();
}

function spellsOutServer(prefix: string, name: string): boolean {
  const mark = name.indexOf(SERVER_MARK);
  return mark === -1 || prefix.length >= mark + SERVER_MARK.length;
}
