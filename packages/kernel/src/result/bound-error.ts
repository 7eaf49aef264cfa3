import type { Violation } from "@narthex/contracts";

const MAX_ERROR_TEXT = 1000;
const MAX_VIOLATIONS = 50;
const MAX_FIELD = 256;

/** As much of an error's text as is kept. */
export function cutText(text: string): string {
  return text.slice(0, MAX_ERROR_TEXT).toWellFormed();
}

/** As many violations, and as much of each, as fit beside a record; the very same list if that is all of them. */
export function boundViolations(violations: readonly Violation[]): readonly Violation[] {
  if (violations.length <= MAX_VIOLATIONS && violations.every(fits)) return violations;
  return violations.slice(0, MAX_VIOLATIONS).map(({ field, rule, message }) => ({
    field: field.slice(0, MAX_FIELD).toWellFormed(),
    rule: rule.slice(0, MAX_FIELD).toWellFormed(),
    message: cutText(message),
  }));
}

function fits({ field, rule, message }: Violation): boolean {
  const isShort = field.length <= MAX_FIELD && rule.length <= MAX_FIELD && message.length <= MAX_ERROR_TEXT;
  return isShort && field.isWellFormed() && rule.isWellFormed() && message.isWellFormed();
}
