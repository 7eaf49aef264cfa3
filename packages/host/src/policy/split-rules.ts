/** One rule's own text in its file, with the annotations before it. */
export interface RuleText {
  readonly text: string;
  /** In the file, in UTF-16 units. */
  readonly offset: number;
  readonly annotations: readonly AnnotationPlace[];
  /** Whole numbers that a double does not hold, by their places in the file. */
  readonly longNumbers: readonly number[];
}

/** Where an annotation stands in the file. */
export interface AnnotationPlace {
  readonly name: string;
  readonly offset: number;
}

/** Comments, strings, words, numbers, blanks, and any other single character. */
const TOKEN = /\/\/[^\r\n]*|"(?:\\[\s\S]|[^"\\])*"?|[_a-zA-Z][_a-zA-Z0-9]*|[0-9]+|\s+|[\s\S]/gy;
const BLANK = /^(?:\s|\/\/)/;
const WORD = /^[_a-zA-Z]/;
const NUMBER = /^[0-9]/;

/**
 * Cuts a file into its rules: each ends with a `;` outside of strings and comments. What is left after the last one is a
 * rule that lacks its end.
 *
 * SECURITY: whoever uses a piece lets Cedar parse it as exactly one rule, and compares the number of pieces with that of
 * the rules which Cedar finds in the whole file. So no rule is lost or joined with another if the two read differently.
 */
export function splitRules(text: string): RuleText[] {
  const rules: RuleText[] = [];
  let rule: RuleStart | undefined;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (rule === undefined && BLANK.test(token)) continue;
    rule ??= { offset: index, before: "", annotations: [], longNumbers: [] };
    note(rule, token, index);
    if (token !== ";") continue;
    rules.push(finish(rule, text.slice(rule.offset, index + 1)));
    rule = undefined;
  }
  if (rule !== undefined) rules.push(finish(rule, text.slice(rule.offset)));
  return rules;
}

interface RuleStart {
  readonly offset: number;
  /** The last token that was no blank. */
  before: string;
  readonly annotations: AnnotationPlace[];
  readonly longNumbers: number[];
}

function note(rule: RuleStart, token: string, offset: number): void {
  if (BLANK.test(token)) return;
  // INVARIANT: in a rule that Cedar parses, an `@` outside of strings and comments always starts an annotation.
  if (rule.before === "@" && WORD.test(token)) rule.annotations.push({ name: token, offset });
  if (NUMBER.test(token) && !Number.isSafeInteger(Number(token))) rule.longNumbers.push(offset);
  rule.before = token;
}

function finish({ offset, annotations, longNumbers }: RuleStart, text: string): RuleText {
  return { text, offset, annotations, longNumbers };
}
