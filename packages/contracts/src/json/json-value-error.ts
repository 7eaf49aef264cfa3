import type { Rule } from "../rule.ts";

/** Thrown for a value that has no JSON form. */
export class JsonValueError extends Error {
  override readonly name = "JsonValueError";
  readonly rule: Rule;
  /** Position of the problem, as a JSON pointer. */
  readonly path: string;

  constructor(rule: Rule, path: string, message: string) {
    super(message);
    this.rule = rule;
    this.path = path;
  }
}
