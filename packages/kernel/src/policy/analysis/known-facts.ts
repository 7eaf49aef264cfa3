import { isJsonObject, type JsonValue } from "@narthex/contracts";
import { readFields, readOperator } from "../cedar/read-node.ts";
import type { CedarShape, RecordShape } from "../schema/cedar-shape.ts";
import { FALSE, isLiteral, isVariable, keyOf, operandsOf, TRUE } from "./expression-nodes.ts";
import type { ToolVariant } from "./tool-variants.ts";

/**
 * Facts that hold for every request under analysis: those for one action, by one version of its tool, under some
 * conditions.
 */
export interface KnownFacts {
  readonly action: string;
  /** The groups that contain the action, and the action itself. */
  readonly groups: readonly string[];
  /** The shape of the request's context. */
  readonly context: RecordShape;
  readonly variant: ToolVariant;
  /** Known values of expressions, by expression key. */
  readonly values: Map<string, JsonValue>;
}

export interface FactsBase {
  readonly action: string;
  readonly groups: readonly string[];
  readonly context: RecordShape;
  readonly variant: ToolVariant;
}

const CONTEXT: JsonValue = { Var: "context" };

export function createFacts(base: FactsBase): KnownFacts {
  const values = new Map<string, JsonValue>();
  const { texts, effects, isExact } = base.variant;
  for (const [attr, [only, ...others]] of texts) {
    if (only !== undefined && others.length === 0) values.set(attributeKey(attr), { Value: only });
  }
  if (isExact || effects.length === 0) {
    values.set(attributeKey("effects"), { Set: effects.map((effect) => ({ Value: effect })) });
  }
  return { ...base, values };
}

function attributeKey(attr: string): string {
  return keyOf({ ".": { left: CONTEXT, attr } });
}

/** Records that a condition is true. */
export function learn(condition: JsonValue, { values }: KnownFacts): void {
  setOnce(values, keyOf(condition), TRUE);
  const [operator, operands] = readOperator(condition);
  if (operator === "!") {
    setOnce(values, keyOf(readFields(operands, ["arg"]).get("arg") ?? null), FALSE);
  } else if (operator === "isEmpty") {
    setOnce(values, keyOf(readFields(operands, ["arg"]).get("arg") ?? null), { Set: [] });
  } else if (operator === "==") {
    const [left, right] = operandsOf(operands);
    if (isLiteral(right)) setOnce(values, keyOf(left), right);
    else if (isLiteral(left)) setOnce(values, keyOf(right), left);
  }
}

/** Keeps the first value of an expression. A second, contradicting value is detected when its condition is reduced. */
function setOnce(values: Map<string, JsonValue>, key: string, value: JsonValue): void {
  if (!values.has(key)) values.set(key, value);
}

/**
 * Whether an expression of a validated rule evaluates without an error for every such request. Arithmetic can overflow,
 * and attributes may be absent; both are errors.
 */
export function isTotal(node: JsonValue, facts: KnownFacts): boolean {
  if (facts.values.has(keyOf(node))) return true;
  const [operator, operands] = readOperator(node);
  switch (operator) {
    case "Value":
    case "Var":
      return true;
    case ".":
      return isPresent(node, facts);
    case "Set":
      return Array.isArray(operands) && operands.every((member) => isTotal(member, facts));
    case "has":
    case "like":
    case "is":
      return isJsonObject(operands) && operands["in"] === undefined && isTotal(operands["left"] ?? null, facts);
    case "!":
    case "isEmpty":
      return isTotal(readFields(operands, ["arg"]).get("arg") ?? null, facts);
    default:
      return TOTAL_BINARY.has(operator) && operandsOf(operands).every((operand) => isTotal(operand, facts));
  }
}

const TOTAL_BINARY = new Set([
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "&&",
  "||",
  "in",
  "contains",
  "containsAll",
  "containsAny",
]);

/** Whether the node is the context or an attribute of it that is required, or that a condition states is present. */
function isPresent(node: JsonValue, facts: KnownFacts): boolean {
  const [operator, operands] = readOperator(node);
  if (operator === "Var") return operands === "context";
  if (operator !== "." || !isJsonObject(operands)) return false;
  const { left = null, attr } = operands;
  if (typeof attr !== "string" || !isPresent(left, facts)) return false;
  const attribute = attributeOf(left, attr, facts);
  if (attribute === undefined) return false;
  return attribute.required || facts.values.get(keyOf({ has: { left, attr } })) === TRUE;
}

/** The schema's declaration of an attribute; undefined if `left` is neither the context nor a record in it. */
export function attributeOf(
  left: JsonValue,
  attr: string,
  facts: KnownFacts,
): { readonly required: boolean; readonly shape: CedarShape } | undefined {
  const shape = shapeOf(left, facts);
  return shape?.kind === "record" ? shape.attributes.find(({ name }) => name === attr) : undefined;
}

function shapeOf(node: JsonValue, facts: KnownFacts): CedarShape | undefined {
  if (isVariable(node, "context")) return facts.context;
  const [operator, operands] = readOperator(node);
  if (operator !== "." || !isJsonObject(operands) || typeof operands["attr"] !== "string") return undefined;
  return attributeOf(operands["left"] ?? null, operands["attr"], facts)?.shape;
}
