import { CST, type Document, isNode, Lexer, LineCounter, type ParsedNode, parseDocument, type YAMLError } from "yaml";
import { type ConfigurationProblems, quote } from "./configuration-problems.ts";

export interface YamlFile {
  /** Undefined if the document is empty. */
  readonly root: ParsedNode | undefined;
  lineOf(node: unknown): number;
}

/** A full configuration has about a hundred tokens. */
const MAX_TOKENS = 10_000;
const MAX_FLOW_DEPTH = 32;
const FREE_TOKENS: ReadonlySet<string | null> = new Set(["space", "comment", "newline", "byte-order-mark"]);

/**
 * Parses one YAML 1.2 document. Adds a problem for everything that is invalid; the tree must not be used then.
 *
 * SECURITY: a megabyte of brackets or quotes keeps the parser busy for half a minute, so tokens are counted first.
 * Aliases are never resolved here, so they cannot multiply content. Duplicate keys are detected by the code that reads
 * the tree: the parser would compare every key with every other.
 */
export function parseYaml(text: string, problems: ConfigurationProblems): YamlFile | undefined {
  const line = findExcess(text);
  if (line !== undefined) {
    const message = "is more than a configuration can need: too many values or too deeply nested";
    problems.add(() => ({ line, field: "", rule: "malformed", message }));
    return undefined;
  }
  const lines = new LineCounter();
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  const document: Document.Parsed = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // Explicit, so that a `%YAML 1.1` line does not turn `yes` into true and `1:30` into 90.
    schema: "core",
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    uniqueKeys: false,
  });
  for (const error of [...document.errors, ...document.warnings]) {
    problems.add(() => ({ line: lineAt(error.pos[0]), field: "", rule: "malformed", message: describe(error) }));
  }
  if (document.errors.length > 0) return undefined;
  return {
    root: document.contents ?? undefined,
    lineOf: (node) => (isNode(node) && node.range ? lineAt(node.range[0]) : 1),
  };
}

/** Returns the line on which the document exceeds the limits, if it does. */
function findExcess(text: string): number | undefined {
  let tokens = 0;
  let depth = 0;
  let line = 1;
  for (const lexeme of new Lexer().lex(text)) {
    const type = CST.tokenType(lexeme);
    if (type === "newline") line++;
    if (FREE_TOKENS.has(type)) continue;
    if (type === "flow-seq-start" || type === "flow-map-start") depth++;
    if (type === "flow-seq-end" || type === "flow-map-end") depth--;
    if (++tokens > MAX_TOKENS || depth > MAX_FLOW_DEPTH) return line;
  }
  return undefined;
}

function describe(error: YAMLError): string {
  if (error.code === "RESOURCE_EXHAUSTION") return "is nested too deeply";
  if (error.code === "NON_STRING_KEY") return "a key must be a plain name";
  if (error.code === "MULTIPLE_DOCS") return "a second document begins here; write one";
  return `is not YAML: ${quote(error.message, 160)}`;
}
