import type { CedarRecord, CedarValue } from "../cedar-value.ts";
import { constantOf, type Evaluate, type Expression } from "../expression.ts";

export function recordOf(members: ReadonlyMap<string, Expression>): Expression {
  const evaluates = new Map<string, Evaluate>();
  const constants = new Map<string, CedarValue>();
  for (const [name, { evaluate, constant }] of members) {
    evaluates.set(name, evaluate);
    if (constant !== undefined) constants.set(name, constant);
  }
  if (constants.size === members.size) return constantOf(makeRecord(constants));
  return {
    evaluate(frame) {
      const values = new Map<string, CedarValue>();
      for (const [name, evaluate] of evaluates) values.set(name, evaluate(frame));
      return makeRecord(values);
    },
  };
}

/** SECURITY: without a prototype, `__proto__` is an attribute like any other. */
function makeRecord(values: ReadonlyMap<string, CedarValue>): CedarRecord {
  const record = Object.create(null) as Record<string, CedarValue>;
  for (const [name, value] of values) record[name] = value;
  return record;
}
