const BLANKS = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[^]*?(?:\*\/|$))*/u;
const READS: ReadonlySet<string> = new Set(["SELECT", "VALUES", "EXPLAIN", "PRAGMA", "WITH"]);
const WRITES = /\b(?:insert|update|delete|replace)\b/iu;

/**
 * Whether a statement reads or may write, by its first word.
 *
 * SECURITY: a guess, and a wrong one gains nothing: what is taken for reading gets a database, an engine and a workspace
 * that cannot be written.
 */
export function statementKind(sql: string): "read" | "write" {
  const [word = ""] = /^[a-z]+/iu.exec(sql.replace(BLANKS, "")) ?? [];
  const first = word.toUpperCase();
  if (!READS.has(first)) return "write";
  return first === "WITH" && WRITES.test(sql) ? "write" : "read";
}
