/** Source text of one rule, including the annotations before it. */
export interface RuleText {
  readonly text: string;
  /** Offset in the file, in UTF-16 units. */
  readonly offset: number;
  readonly annotations: readonly AnnotationPlace[];
  /** Offsets in the file of integers that a double cannot represent exactly. */
  readonly longNumbers: readonly number[];
}

/** Position of an annotation in the file. */
export interface AnnotationPlace {
  readonly name: string;
  readonly offset: number;
}

/** Comments, strings, words, numbers, white space, and any other single character. */
const TOKEN = /\/\/[^\r\n]*|"(?:\\[\s\S]|[^"\\])*"?|[_a-zA-Z][_a-zA-Z0-9]*|[0-9]+|\s+|[\s\S]/gy;
const BLANK = /^(?:\s|\/\/)/;
const WORD = /^[_a-zA-Z]/;
const NUMBER = /^[0-9]/;

/**
 * Splits a file into its rules: each ends with a `;` outside of strings and comments. Text after the last `;` becomes a
 * rule without an end.
 *
 * SECURITY: callers must let Cedar parse each piece as exactly one rule, and compare the number of pieces with the
 * number of rules that Cedar finds in the whole file. So no rule is lost or merged if this tokenizer and Cedar
 * disagree.
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
  /** The last token that is not white space or a comment. */
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
