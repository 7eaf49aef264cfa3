import { canonicalJson, isJsonObject, type JsonValue } from "@narthex/contracts";
import { EntityValue, isSet, type CedarValue } from "../cedar/cedar-value.ts";
import { readFields, readOperator } from "../cedar/read-node.ts";

/** Expressions of Cedar's JSON form, as the analysis of rules takes them apart. */

export const TRUE: JsonValue = { Value: true };
export const FALSE: JsonValue = { Value: false };

const keys = new WeakMap<object, string>();

/** Equal for expressions that are written alike. */
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

/** A constant: a plain value, or a set or record of constants. */
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

/** `left op right`. */
export function operandsOf(operands: JsonValue): readonly [left: JsonValue, right: JsonValue] {
  const fields = readFields(operands, ["left", "right"]);
  return [fields.get("left") ?? null, fields.get("right") ?? null];
}

/** The attribute of the context that an expression is; undefined if it is anything else. */
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

/** A value as a literal; undefined for one that the JSON form does not hold exactly. */
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

/** Whether an expression is nested at most so deep: deeper ones are left alone. */
export function isShallow(node: JsonValue, depth: number): boolean {
  let level: readonly JsonValue[] = [node];
  for (let at = 0; level.length > 0; at++) {
    if (at > depth) return false;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return true;
}
