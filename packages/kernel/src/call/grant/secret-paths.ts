/** Whether a path, relative to a workspace's root, has secret content. */
export type SecretPaths = (path: string) => boolean;

/**
 * Creates the check from patterns. A pattern names a file or a directory, in every directory of a workspace; everything
 * below such a directory is secret too. A `*` stands for any part of one name.
 *
 * SECURITY: names are compared without regard to case, because some file systems do.
 */
export function createSecretPaths(patterns: readonly string[]): SecretPaths {
  if (patterns.length === 0) return () => false;
  // One expression for all patterns: a search checks every file in which it found something.
  const rule = new RegExp(`(?:^|/)(?:${patterns.map(expressionOf).join("|")})(?:/|$)`, "u");
  return (path) => rule.test(path.normalize("NFC").toLowerCase());
}

function expressionOf(pattern: string): string {
  return pattern
    .normalize("NFC")
    .toLowerCase()
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^/]*");
}
