import { type CedarValue, EntityValue, isSet } from "../cedar-value.ts";
import { typeError } from "../evaluation-error.ts";
import type { Expression } from "../expression.ts";
import type { EvaluatedRequest } from "../evaluated-request.ts";

/** `in`, with an entity or a set of entities on the right. */
export function isIn({ evaluate: first }: Expression, { evaluate: second, constant }: Expression): Expression {
  if (constant instanceof EntityValue) return { evaluate: (frame) => frame.isIn(expectEntity(first(frame)), constant) };
  return {
    evaluate(frame) {
      const entity = first(frame);
      const groups = second(frame);
      return isWithin(expectEntity(entity), groups, frame);
    },
  };
}

/** `is`, and `is T in`, which evaluates the group only if the type matches. */
export function isOfType({ evaluate }: Expression, type: string, group: Expression | undefined): Expression {
  if (group === undefined) return { evaluate: (frame) => expectEntity(evaluate(frame)).type === type };
  const { evaluate: evaluateGroup } = group;
  return {
    evaluate(frame) {
      const entity = expectEntity(evaluate(frame));
      return entity.type === type && isWithin(entity, evaluateGroup(frame), frame);
    },
  };
}

function isWithin(entity: EntityValue, groups: CedarValue, request: EvaluatedRequest): boolean {
  if (groups instanceof EntityValue) return request.isIn(entity, groups);
  if (typeof groups !== "object" || !isSet(groups)) throw typeError("set or entity", groups);
  let isFound = false;
  // Checks all members even after a match: a member that is not an entity is an error at any position.
  for (const group of groups) isFound = request.isIn(entity, expectEntity(group)) || isFound;
  return isFound;
}

function expectEntity(value: CedarValue): EntityValue {
  if (value instanceof EntityValue) return value;
  throw typeError("entity", value);
}
