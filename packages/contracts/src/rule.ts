/** The rules a field can break: `ValidationError.rule`. */
export const RULES = [
  "required",
  "max_length",
  "max_items",
  "exact_length",
  "range",
  "one_of",
  "exclusive",
  "no_traversal",
  "no_nul",
  "format",
  "unknown_field",
  "duplicate",
  "malformed",
] as const;
export type Rule = (typeof RULES)[number];
