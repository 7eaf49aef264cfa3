import { canonicalJson, isJsonObject, type JsonValue } from "@narthex/contracts";
import { EntityValue, isSet, type CedarValue } from "../cedar/cedar-value.ts";
import { readFields, readOperator } from "../cedar/read-node.ts";

/** Expressions in Cedar's JSON form, as used by the rule analysis. */

export const TRUE: JsonValue = { Value: true };
export const FALSE: JsonValue = { Value: false };

const keys = new WeakMap<object, string>();

/** A key that is equal for expressions with the same JSON form. */
export function keyOf(node: JsonValue): string {
  if (typeof node !== "object" || node === null) return JSON.stringify(node);
  const known = keys.get(node);
  if (known !== undefined) return known;
  const key = canonicalJson(node);
  keys.set(node, key);
  return key;
}

export function isTrue(node: JsonValue): boolean {
  return isJsonObject(node) && node["Value"] === true;
}

export function isFalse(node: JsonValue): boolean {
  return isJsonObject(node) && node["Value"] === false;
}

/** Whether the expression is a constant: a plain value, or a set or record of constants. */
export function isLiteral(node: JsonValue): boolean {
  const [operator, operands] = readOperator(node);
  if (operator === "Value") return true;
  if (operator === "Set") return Array.isArray(operands) && operands.every(isLiteral);
  return operator === "Record" && isJsonObject(operands) && Object.values(operands).every(isLiteral);
}

export function negate(node: JsonValue): JsonValue {
  const [operator, operands] = readOperator(node);
  if (operator === "!") return readFields(operands, ["arg"]).get("arg") ?? node;
  return { "!": { arg: node } };
}

/** The operands of `left op right`. */
export function operandsOf(operands: JsonValue): readonly [left: JsonValue, right: JsonValue] {
  const fields = readFields(operands, ["left", "right"]);
  return [fields.get("left") ?? null, fields.get("right") ?? null];
}

/** The name of the context attribute that the expression reads; undefined for any other expression. */
export function contextAttribute(node: JsonValue): string | undefined {
  const [operator, operands] = readOperator(node);
  if (operator !== "." || !isJsonObject(operands)) return undefined;
  const { left, attr } = operands;
  return typeof attr === "string" && isVariable(left, "context") ? attr : undefined;
}

export function isVariable(node: JsonValue | undefined, name: string): boolean {
  return isJsonObject(node) && node["Var"] === name;
}

export function entityNode(type: string, id: string): JsonValue {
  return { Value: { __entity: { type, id } } };
}

/** The value as a literal expression; undefined if the JSON form cannot represent it exactly. */
export function literalOf(value: CedarValue): JsonValue | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "number":
      return { Value: value };
    case "bigint":
      return undefined;
    default:
      if (value instanceof EntityValue) return entityNode(value.type, value.id);
      return isSet(value) ? setNode(value.map(literalOf)) : undefined;
  }
}

function setNode(members: readonly (JsonValue | undefined)[]): JsonValue | undefined {
  const known = members.filter((member) => member !== undefined);
  return known.length === members.length ? { Set: known } : undefined;
}

/** Whether an expression is nested at most `depth` levels. Deeper ones are not analysed. */
export function isShallow(node: JsonValue, depth: number): boolean {
  let level: readonly JsonValue[] = [node];
  for (let at = 0; level.length > 0; at++) {
    if (at > depth) return false;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return true;
}
