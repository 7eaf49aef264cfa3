import type { Rule } from "../rule.ts";

/** Records one broken rule. */
export type Report = (field: string, rule: Rule, message: string) => void;

export interface TextRules {
  readonly required?: true;
  /** In Unicode code points. */
  readonly maxCharacters?: number;
  /** In UTF-8. */
  readonly maxBytes?: number;
  readonly noNul?: true;
  readonly noTraversal?: true;
}

const TRAVERSAL = /(?:^|[/\\])\.\.(?:[/\\]|$)/;

/** Reports every rule that a text breaks. Counts characters only if cheaper checks are inconclusive. */
export function checkText(report: Report, field: string, text: string, rules: TextRules): void {
  if (text === "") {
    if (rules.required) report(field, "required", "must not be empty");
    return;
  }
  if (rules.maxCharacters !== undefined && isLongerThan(text, rules.maxCharacters)) {
    report(field, "max_length", `must have at most ${rules.maxCharacters} characters`);
  }
  if (rules.maxBytes !== undefined && isLargerThan(text, rules.maxBytes)) {
    report(field, "max_length", `must have at most ${rules.maxBytes} bytes in UTF-8`);
  }
  if (rules.noNul && text.includes("\0")) report(field, "no_nul", "must not contain a NUL character");
  if (rules.noTraversal && text.includes("..") && TRAVERSAL.test(text)) {
    report(field, "no_traversal", "must not contain `..` as a path component");
  }
  if (!text.isWellFormed()) report(field, "format", "must not contain half a surrogate pair");
}

/** A code point is one or two UTF-16 units. */
function isLongerThan(text: string, maxCharacters: number): boolean {
  if (text.length <= maxCharacters) return false;
  if (text.length > 2 * maxCharacters) return true;
  let characters = 0;
  for (const _ of text) characters++;
  return characters > maxCharacters;
}

/** A UTF-16 unit is one to three bytes of UTF-8. */
function isLargerThan(text: string, maxBytes: number): boolean {
  if (text.length * 3 <= maxBytes) return false;
  return text.length > maxBytes || Buffer.byteLength(text, "utf8") > maxBytes;
}
