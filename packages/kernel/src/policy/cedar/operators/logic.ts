import type { CedarValue } from "../cedar-value.ts";
import { typeError } from "../evaluation-error.ts";
import type { Expression } from "../expression.ts";

/** `&&`: stops at the first operand that is false. */
export function allOf(operands: readonly Expression[]): Expression {
  return untilFirst(operands, false);
}

/** `||`: stops at the first operand that is true. */
export function anyOf(operands: readonly Expression[]): Expression {
  return untilFirst(operands, true);
}

function untilFirst(operands: readonly Expression[], end: boolean): Expression {
  const evaluates = operands.map(({ evaluate }) => evaluate);
  const [first, second, third] = evaluates;
  if (first !== undefined && second !== undefined && third === undefined) {
    // The common case of two operands, without a loop.
    return { evaluate: (frame) => (expectBoolean(first(frame)) === end ? end : expectBoolean(second(frame))) };
  }
  return {
    evaluate(frame) {
      for (const evaluate of evaluates) {
        if (expectBoolean(evaluate(frame)) === end) return end;
      }
      return !end;
    },
  };
}

export function not({ evaluate }: Expression): Expression {
  return { evaluate: (frame) => !expectBoolean(evaluate(frame)) };
}

export function ifThenElse(condition: Expression, then: Expression, otherwise: Expression): Expression {
  const { evaluate } = condition;
  const [yes, no] = [then.evaluate, otherwise.evaluate];
  return { evaluate: (frame) => (expectBoolean(evaluate(frame)) ? yes(frame) : no(frame)) };
}

export function expectBoolean(value: CedarValue): boolean {
  if (typeof value === "boolean") return value;
  throw typeError("bool", value);
}
