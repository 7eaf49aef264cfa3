import type { CedarLong, CedarValue } from "../cedar-value.ts";
import { equalValues } from "../equal-values.ts";
import type { Expression } from "../expression.ts";
import { add, expectLong, isLong, multiply, negate, subtract } from "../long-arithmetic.ts";

export function equal(left: Expression, right: Expression): Expression {
  if (isScalar(right.constant)) return equalTo(left, right.constant);
  if (isScalar(left.constant)) return equalTo(right, left.constant);
  const { evaluate: first } = left;
  const { evaluate: second } = right;
  return { evaluate: (frame) => equalValues(first(frame), second(frame)) };
}

function equalTo({ evaluate }: Expression, constant: Scalar): Expression {
  return { evaluate: (frame) => evaluate(frame) === constant };
}

export function notEqual(left: Expression, right: Expression): Expression {
  const { evaluate } = equal(left, right);
  return { evaluate: (frame) => evaluate(frame) === false };
}

export const less = ordered((left, right) => left < right);
export const lessOrEqual = ordered((left, right) => left <= right);
export const greater = ordered((left, right) => left > right);
export const greaterOrEqual = ordered((left, right) => left >= right);

export const plus = arithmetic(add);
export const minus = arithmetic(subtract);
export const times = arithmetic(multiply);

export function negative({ evaluate }: Expression): Expression {
  return { evaluate: (frame) => negate(expectLong(evaluate(frame))) };
}

type Binary = (left: Expression, right: Expression) => Expression;

function ordered(compare: (left: CedarLong, right: CedarLong) => boolean): Binary {
  return ({ evaluate: first }, { evaluate: second, constant }) => {
    if (constant !== undefined && isLong(constant)) {
      return { evaluate: (frame) => compare(expectLong(first(frame)), constant) };
    }
    return {
      evaluate(frame) {
        const left = first(frame);
        const right = second(frame);
        return compare(expectLong(left), expectLong(right));
      },
    };
  };
}

function arithmetic(compute: (left: CedarLong, right: CedarLong) => CedarLong): Binary {
  return ({ evaluate: first }, { evaluate: second }) => ({
    evaluate(frame) {
      const left = first(frame);
      const right = second(frame);
      return compute(expectLong(left), expectLong(right));
    },
  });
}

type Scalar = string | CedarLong | boolean;

function isScalar(value: CedarValue | undefined): value is Scalar {
  return value !== undefined && typeof value !== "object";
}
