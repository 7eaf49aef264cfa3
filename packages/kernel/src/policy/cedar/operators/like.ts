import { typeError } from "../evaluation-error.ts";
import type { Expression } from "../expression.ts";
import { compilePattern } from "../match-pattern.ts";

export function like({ evaluate }: Expression, pieces: readonly string[]): Expression {
  const matches = compilePattern(pieces);
  return {
    evaluate(frame) {
      const text = evaluate(frame);
      if (typeof text !== "string") throw typeError("string", text);
      return matches(text);
    },
  };
}
