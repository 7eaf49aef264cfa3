import type { Violation } from "@narthex/contracts";

const MAX_ERROR_TEXT = 1000;
const MAX_VIOLATIONS = 50;
const MAX_FIELD = 256;

/** Cuts an error message to the maximum length that is stored. */
export function cutText(text: string): string {
  return text.slice(0, MAX_ERROR_TEXT).toWellFormed();
}

/**
 * Limits violations in number and length so that they fit into a record; returns the same list if nothing had to be
 * cut.
 */
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
