const BLANKS = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[^]*?(?:\*\/|$))*/u;
const READS: ReadonlySet<string> = new Set(["SELECT", "VALUES", "EXPLAIN", "PRAGMA", "WITH"]);
const WRITES = /\b(?:insert|update|delete|replace)\b/iu;

/**
 * Whether a statement reads or may write, judged by its first word.
 *
 * SECURITY: this is a guess, and a wrong one gains nothing: for a statement judged as reading, the database, the engine
 * and the workspace are all read-only.
 */
export function statementKind(sql: string): "read" | "write" {
  const [word = ""] = /^[a-z]+/iu.exec(sql.replace(BLANKS, "")) ?? [];
  const first = word.toUpperCase();
  if (!READS.has(first)) return "write";
  return first === "WITH" && WRITES.test(sql) ? "write" : "read";
}
