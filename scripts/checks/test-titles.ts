import ts from "typescript";

/** The titles of the tests in one file. */
export interface TestTitles {
  has(title: string): boolean;
}

const TEST_CALLS = new Set(["test", "it"]);
const SUITE_CALLS = new Set(["describe", "suite"]);

/** A title with places that are filled at run time: the texts between these places. */
type TitlePattern = readonly string[];

/**
 * Reads the titles of tests, subtests, and suites that hold a test. A title that is made at run time is known by its
 * source (`opens after ${count} knocks`), or by an instance whose filled-in parts stand in the file.
 */
export function readTestTitles(fileName: string, text: string): TestTitles {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
  const exact = new Set<string>();
  const patterns: TitlePattern[] = [];
  const values = new Set<string>();

  /** Answers whether there is a test in `node`. */
  const visit = (node: ts.Node): boolean => {
    let holdsTest = false;
    ts.forEachChild(node, (child) => {
      holdsTest = visit(child) || holdsTest;
    });
    collectValue(node, values);
    if (!ts.isCallExpression(node)) return holdsTest;
    const kind = nameCall(node);
    const [title] = node.arguments;
    // A title is no value for other titles: else a suite without tests would pass for one of them.
    if (kind !== "other" && title !== undefined && ts.isStringLiteralLike(title)) values.delete(title.text);
    if (kind === "other" || (kind === "suite" && !holdsTest)) return holdsTest;
    if (title === undefined || node.arguments.length < 2) return holdsTest;
    if (ts.isStringLiteralLike(title)) exact.add(title.text);
    else if (ts.isTemplateExpression(title)) {
      exact.add(text.slice(title.getStart(source) + 1, title.end - 1));
      patterns.push([title.head.text, ...title.templateSpans.map((span) => span.literal.text)]);
    } else if (ts.isIdentifier(title)) patterns.push(["", ""]);
    return true;
  };
  visit(source);
  return { has: (title) => exact.has(title) || patterns.some((pattern) => isInstance(title, pattern, values)) };
}

function nameCall({ expression }: ts.CallExpression): "test" | "suite" | "other" {
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
  if (!ts.isIdentifier(name)) return "other";
  if (TEST_CALLS.has(name.text)) return "test";
  return SUITE_CALLS.has(name.text) ? "suite" : "other";
}

/** What a title can be filled with: texts, numbers and names of properties. */
function collectValue(node: ts.Node, values: Set<string>): void {
  if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) values.add(node.text);
  else if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)) values.add(node.name.text);
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
