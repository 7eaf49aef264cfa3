import type { Rule } from "../rule.ts";

/** Thrown for a text that is not strict JSON. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
  readonly rule: Rule;
  /** Position of the problem, as a JSON pointer. */
  readonly path: string;

  constructor(rule: Rule, path: string, message: string) {
    super(message);
    this.rule = rule;
    this.path = path;
  }
}
