import { type CedarRecord, type CedarValue, EntityValue, isSet } from "../cedar-value.ts";
import { EvaluationError, typeError } from "../evaluation-error.ts";
import { expectPlain } from "../expect-plain.ts";
import type { Expression } from "../expression.ts";
import type { EvaluatedRequest } from "../evaluated-request.ts";

/** `.` and `[]`, on a record or an entity of the request. */
export function attribute({ evaluate }: Expression, name: string): Expression {
  return { evaluate: (frame) => readAttribute(evaluate(frame), name, frame) };
}

/** `context.name`, the most common access. The context is always a record, so no type check is needed. */
export function contextAttribute(name: string): Expression {
  return {
    evaluate({ context }) {
      const found = own(context, name);
      if (found === undefined) throw new EvaluationError(`record does not have the attribute \`${name}\``);
      return typeof found === "string" ? found : expectPlain(found);
    },
  };
}

/** `has`, and `has a.b.c`, which is `has a && .a has b && .a.b has c`. */
export function hasAttribute({ evaluate }: Expression, path: readonly string[]): Expression {
  const [first = "", ...others] = path;
  if (others.length === 0) return { evaluate: (frame) => holds(evaluate(frame), first, frame) };
  return {
    evaluate(frame) {
      let value = evaluate(frame);
      let name = first;
      for (const next of others) {
        if (!holds(value, name, frame)) return false;
        value = readAttribute(value, name, frame);
        name = next;
      }
      return holds(value, name, frame);
    },
  };
}

/** `hasTag`. Requests carry no tags, so no entity has one. */
export function hasTag(left: Expression, right: Expression): Expression {
  return {
    evaluate(frame) {
      expectEntityAndTag(left.evaluate(frame), right.evaluate(frame));
      return false;
    },
  };
}

export function getTag(left: Expression, right: Expression): Expression {
  return {
    evaluate(frame) {
      const entity = expectEntityAndTag(left.evaluate(frame), right.evaluate(frame));
      throw new EvaluationError(`an entity of type \`${entity.type}\` does not have the tag`);
    },
  };
}

function expectEntityAndTag(entity: CedarValue, tag: CedarValue): EntityValue {
  if (!(entity instanceof EntityValue)) throw typeError("entity", entity);
  if (typeof tag !== "string") throw typeError("string", tag);
  return entity;
}

function readAttribute(value: CedarValue, name: string, request: EvaluatedRequest): CedarValue {
  if (!(value instanceof EntityValue)) {
    const found = own(expectRecord(value), name);
    if (found === undefined) throw new EvaluationError(`record does not have the attribute \`${name}\``);
    return expectPlain(found);
  }
  const attributes = request.attributesOf(value);
  if (attributes === undefined) throw new EvaluationError(`an entity of type \`${value.type}\` does not exist`);
  const found = own(attributes, name);
  if (found !== undefined) return expectPlain(found);
  throw new EvaluationError(`an entity of type \`${value.type}\` does not have the attribute \`${name}\``);
}

function holds(value: CedarValue, name: string, request: EvaluatedRequest): boolean {
  if (!(value instanceof EntityValue)) return own(expectRecord(value), name) !== undefined;
  const attributes = request.attributesOf(value);
  return attributes !== undefined && own(attributes, name) !== undefined;
}

/** SECURITY: names like `constructor` and `__proto__` are read from the record itself, never from its prototype. */
function own(record: CedarRecord, name: string): CedarValue | undefined {
  const found = record[name];
  return found !== undefined && Object.hasOwn(record, name) ? found : undefined;
}

function expectRecord(value: CedarValue): CedarRecord {
  if (typeof value === "object" && !isSet(value) && !(value instanceof EntityValue)) return value;
  throw typeError("record or entity", value);
}
