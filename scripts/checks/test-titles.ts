import { parseSync } from "rolldown/utils";
import { isNode, readQuasis, readText, type SyntaxNode } from "./syntax-node.ts";

/** The titles of the tests in one file. */
export interface TestTitles {
  has(title: string): boolean;
}

const TEST_CALLS = new Set(["test", "it"]);
const SUITE_CALLS = new Set(["describe", "suite"]);

/** A title with placeholders that are filled at run time: the texts between them. */
type TitlePattern = readonly string[];

/**
 * Finds the titles of tests, subtests, and suites with at least one test. A title that is built at run time matches by
 * its source (`opens after ${count} knocks`), or as an instance whose filled-in parts occur in the file.
 */
export function readTestTitles(fileName: string, text: string): TestTitles {
  const exact = new Set<string>();
  const patterns: TitlePattern[] = [];
  const values = new Set<string>();

  /** Returns whether `node` contains a test. */
  const visit = (node: SyntaxNode): boolean => {
    let holdsTest = false;
    for (const key in node) {
      const child = node[key];
      if (typeof child !== "object" || child === null) continue;
      for (const one of Array.isArray(child) ? child.filter(isNode) : isNode(child) ? [child] : [])
        holdsTest = visit(one) || holdsTest;
    }
    collectValue(node, values);
    if (node["type"] !== "CallExpression") return holdsTest;
    const kind = nameCall(node["callee"]);
    if (kind === "other") return holdsTest;
    const [title, ...rest] = Array.isArray(node["arguments"]) ? node["arguments"].filter(isNode) : [];
    const literal = readText(title);
    // A title is not a value for other titles; otherwise a suite without tests could pass for one of them.
    if (literal !== undefined) values.delete(literal);
    if ((kind === "suite" && !holdsTest) || title === undefined || rest.length === 0) return holdsTest;
    if (literal !== undefined) exact.add(literal);
    else if (title["type"] === "TemplateLiteral") {
      exact.add(text.slice(Number(title["start"]) + 1, Number(title["end"]) - 1));
      patterns.push(readQuasis(title));
    } else if (title["type"] === "Identifier") patterns.push(["", ""]);
    return true;
  };
  const { program, errors } = parseSync(fileName, text);
  if (errors[0] !== undefined) throw new Error(`${fileName} cannot be read: ${errors[0].message}`);
  if (isNode(program)) visit(program);
  return { has: (title) => exact.has(title) || patterns.some((pattern) => isInstance(title, pattern, values)) };
}

function nameCall(callee: unknown): "test" | "suite" | "other" {
  if (!isNode(callee)) return "other";
  const name = callee["type"] === "MemberExpression" && callee["computed"] !== true ? callee["property"] : callee;
  if (!isNode(name) || name["type"] !== "Identifier") return "other";
  if (TEST_CALLS.has(String(name["name"]))) return "test";
  return SUITE_CALLS.has(String(name["name"])) ? "suite" : "other";
}

/** Collects values that can fill a placeholder: strings, numbers and property names. */
function collectValue(node: SyntaxNode, values: Set<string>): void {
  const text = readText(node);
  if (text !== undefined) values.add(text);
  else if (node["type"] === "Literal" && typeof node["value"] === "number") values.add(String(node["value"]));
  else if (node["type"] === "Property" && node["computed"] !== true && node["shorthand"] !== true) {
    const { key } = node;
    if (isNode(key) && key["type"] === "Identifier") values.add(String(key["name"]));
  }
}

function isInstance(title: string, [head = "", ...rest]: TitlePattern, values: ReadonlySet<string>): boolean {
  if (!title.startsWith(head)) return false;
  const [next, ...later] = rest;
  if (next === undefined) return title === head;
  const remainder = title.slice(head.length);
  for (let end = 1; end <= remainder.length; end++) {
    if (values.has(remainder.slice(0, end)) && isInstance(remainder.slice(end), [next, ...later], values)) return true;
  }
  return false;
}
