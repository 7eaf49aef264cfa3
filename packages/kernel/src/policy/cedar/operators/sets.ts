import { type CedarSet, type CedarValue, isSet } from "../cedar-value.ts";
import { contains, containsAll, containsAny, memberTest } from "../equal-values.ts";
import { typeError } from "../evaluation-error.ts";
import { constantOf, type Expression } from "../expression.ts";

/** Number of lookups to expect for a literal set: large, so that it is indexed. */
const MANY = 1000;

export function setOf(elements: readonly Expression[]): Expression {
  const constants = elements.flatMap(({ constant }) => (constant === undefined ? [] : [constant]));
  if (constants.length === elements.length) return constantOf(constants);
  const evaluates = elements.map(({ evaluate }) => evaluate);
  return { evaluate: (frame) => evaluates.map((evaluate) => evaluate(frame)) };
}

export function containsOne(left: Expression, right: Expression): Expression {
  const { evaluate, constant: element } = right;
  if (left.constant !== undefined && isSet(left.constant)) {
    const has = memberTest(left.constant, MANY);
    return { evaluate: (frame) => has(evaluate(frame)) };
  }
  if (element === undefined) return ofSet(left, right, contains);
  const { evaluate: evaluateSet } = left;
  return { evaluate: (frame) => contains(expectSet(evaluateSet(frame)), element) };
}

export function containsEach(left: Expression, right: Expression): Expression {
  return ofSet(left, right, (outer, inner) => containsAll(outer, expectSet(inner)));
}

export function containsSome(left: Expression, right: Expression): Expression {
  return ofSet(left, right, (outer, inner) => containsAny(outer, expectSet(inner)));
}

export function isEmpty({ evaluate }: Expression): Expression {
  return { evaluate: (frame) => expectSet(evaluate(frame)).length === 0 };
}

function ofSet(
  { evaluate: first }: Expression,
  { evaluate: second }: Expression,
  test: (set: CedarSet, other: CedarValue) => boolean,
): Expression {
  return {
    evaluate(frame) {
      const set = first(frame);
      const other = second(frame);
      return test(expectSet(set), other);
    },
  };
}

function expectSet(value: CedarValue): CedarSet {
  if (isSet(value)) return value;
  throw typeError("set", value);
}
