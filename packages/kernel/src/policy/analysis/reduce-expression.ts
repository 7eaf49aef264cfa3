import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { compileExpression } from "../cedar/compile-expression.ts";
import { EvaluationError } from "../cedar/evaluation-error.ts";
import { readEntity, readFields, readList, readOperator, readText } from "../cedar/read-node.ts";
import { ACTION_TYPE, EvaluatedRequest } from "../cedar/evaluated-request.ts";
import { UnsupportedError } from "../cedar/unsupported-error.ts";
import {
  contextAttribute,
  entityNode,
  FALSE,
  isFalse,
  isLiteral,
  isTrue,
  isVariable,
  keyOf,
  literalOf,
  negate,
  operandsOf,
  TRUE,
} from "./expression-nodes.ts";
import { attributeOf, isTotal, type KnownFacts } from "./known-facts.ts";

/**
 * Simplifies an expression of a validated rule by substituting the known facts.
 *
 * INVARIANT: where the result is a literal, every such request evaluates the expression to that value, without an
 * error. Tested by "no request contradicts the analysis of a set of rules".
 */
export function reduceExpression(node: JsonValue, facts: KnownFacts): JsonValue {
  const known = facts.values.get(keyOf(node));
  if (known !== undefined) return known;
  const [operator, operands] = readOperator(node);
  const special = SPECIAL.get(operator);
  if (special !== undefined) return special(operands, facts, node);
  if (!isJsonObject(operands)) return node;
  const reduced = reduceOperands(operands, facts);
  return evaluateClosed({ [operator]: reduced }) ?? { [operator]: reduced };
}

type Reduce = (operands: JsonValue, facts: KnownFacts, node: JsonValue) => JsonValue;

const SPECIAL = new Map<string, Reduce>([
  ["Value", (_operands, _facts, node) => node],
  ["Var", (name, { action }, node) => (name === "action" ? entityNode(ACTION_TYPE, action) : node)],
  ["Set", (members, facts) => ({ Set: readList(members).map((member) => reduceExpression(member, facts)) })],
  ["&&", reduceAnd],
  ["||", reduceOr],
  ["!=", (operands, facts) => reduceNot({ "==": operands }, facts)],
  ["!", (operands, facts) => reduceNot(readFields(operands, ["arg"]).get("arg") ?? null, facts)],
  ["if-then-else", reduceCondition],
  [".", (_operands, _facts, node) => node],
  // No facts are known about entities here.
  ["hasTag", (_operands, _facts, node) => node],
  ["getTag", (_operands, _facts, node) => node],
  ["has", reduceHas],
  ["is", reduceIs],
  ["in", reduceIn],
  ["==", reduceEqual],
  ["contains", (operands, facts) => reduceMembers("contains", operands, facts)],
  ["containsAll", (operands, facts) => reduceMembers("containsAll", operands, facts)],
  ["containsAny", (operands, facts) => reduceMembers("containsAny", operands, facts)],
]);

function reduceOperands(operands: JsonObject, facts: KnownFacts): JsonObject {
  const reduce = ([name, operand]: [string, JsonValue]): [string, JsonValue] =>
    OPERANDS.has(name) ? [name, reduceExpression(operand, facts)] : [name, operand];
  return Object.fromEntries(Object.entries(operands).map(reduce));
}

const OPERANDS = new Set(["left", "right", "arg"]);

function reduceAnd(operands: JsonValue, facts: KnownFacts): JsonValue {
  const [left, right] = reduceBoth(operands, facts);
  if (isFalse(left) || isTrue(right)) return left;
  if (isTrue(left)) return right;
  // If the left side can fail, the whole expression can fail, whatever the right side is.
  return isFalse(right) && isTotal(left, facts) ? FALSE : { "&&": { left, right } };
}

function reduceOr(operands: JsonValue, facts: KnownFacts): JsonValue {
  const [left, right] = reduceBoth(operands, facts);
  if (isTrue(left) || isFalse(right)) return left;
  if (isFalse(left)) return right;
  return isTrue(right) && isTotal(left, facts) ? TRUE : { "||": { left, right } };
}

function reduceNot(node: JsonValue, facts: KnownFacts): JsonValue {
  const inner = reduceExpression(node, facts);
  if (isTrue(inner)) return FALSE;
  return isFalse(inner) ? TRUE : negate(inner);
}

function reduceCondition(operands: JsonValue, facts: KnownFacts, node: JsonValue): JsonValue {
  const fields = readFields(operands, ["if", "then", "else"]);
  const condition = reduceExpression(fields.get("if") ?? null, facts);
  if (isTrue(condition)) return reduceExpression(fields.get("then") ?? null, facts);
  return isFalse(condition) ? reduceExpression(fields.get("else") ?? null, facts) : node;
}

function reduceHas(operands: JsonValue, facts: KnownFacts, node: JsonValue): JsonValue {
  const fields = readFields(operands, ["left", "attr"]);
  const left = fields.get("left") ?? null;
  const attr = fields.get("attr");
  if (typeof attr !== "string" || !isTotal(left, facts)) return node;
  return attributeOf(left, attr, facts)?.required === true ? TRUE : node;
}

/** SPEC: docs/formats/policy.md: the principal of every request is an agent, the resource a workspace. */
const TYPES = new Map<string, string>([
  ["principal", "Agent"],
  ["resource", "Workspace"],
  ["action", ACTION_TYPE],
]);

function typeOf(node: JsonValue): string | undefined {
  const [operator, operands] = readOperator(node);
  if (operator === "Var") return typeof operands === "string" ? TYPES.get(operands) : undefined;
  return operator === "Value" && isJsonObject(operands) ? readEntity(operands).type : undefined;
}

function reduceIs(operands: JsonValue, facts: KnownFacts, node: JsonValue): JsonValue {
  const fields = readFields(operands, ["left", "entity_type"], ["in"]);
  const left = fields.get("left") ?? null;
  const type = typeOf(left);
  if (type === undefined) return node;
  if (type !== readText(fields.get("entity_type"))) return FALSE;
  const group = fields.get("in");
  return group === undefined ? TRUE : reduceExpression({ in: { left, right: group } }, facts);
}

/** Agents and workspaces are known to be in themselves; their other ancestors are unknown. */
function reduceIn(operands: JsonValue, facts: KnownFacts): JsonValue {
  const [left, right] = reduceBoth(operands, facts);
  const unknown = { in: { left, right } };
  if (!isLiteral(left) || !isLiteral(right)) return unknown;
  const [operator, members] = readOperator(right);
  const targets = operator === "Set" ? readList(members) : [right];
  if ([left, ...targets].some((entity) => typeOf(entity) === undefined)) return unknown;
  const { type, id } = readEntity(readOperator(left)[1]);
  const isAmong = (ids: readonly string[]): boolean =>
    targets.some((target) => {
      const entity = readEntity(readOperator(target)[1]);
      return entity.type === type && ids.includes(entity.id);
    });
  if (type === ACTION_TYPE && id === facts.action) return isAmong(facts.groups) ? TRUE : FALSE;
  return isAmong([id]) ? TRUE : unknown;
}

function reduceEqual(operands: JsonValue, facts: KnownFacts): JsonValue {
  const [left, right] = reduceBoth(operands, facts);
  const node = { "==": { left, right } };
  if (isLiteral(left) && isLiteral(right)) return evaluateClosed(node) ?? node;
  if (isLiteral(left) || isLiteral(right)) {
    const [open, literal] = isLiteral(left) ? [right, left] : [left, right];
    const texts = facts.variant.texts.get(contextAttribute(open) ?? "");
    const value = readOperator(literal)[1];
    if (texts !== undefined && typeof value === "string" && !texts.includes(value)) return FALSE;
    const variable = isVariable(open, "principal") || isVariable(open, "resource");
    if (variable && typeOf(literal) !== typeOf(open)) return FALSE;
  }
  // Both sides are the same expression, and it cannot fail.
  return keyOf(left) === keyOf(right) && isTotal(left, facts) ? TRUE : node;
}

/** Reduces set operators. The effects of a call are a subset of those that the tool declares. */
function reduceMembers(operator: string, operands: JsonValue, facts: KnownFacts): JsonValue {
  const [left, right] = reduceBoth(operands, facts);
  const node = { [operator]: { left, right } };
  const closed = evaluateClosed(node);
  if (closed !== undefined) return closed;
  const { effects } = facts.variant;
  if (contextAttribute(left) === "effects" && isLiteral(right)) {
    const wanted = operator === "contains" ? [right] : readList(readOperator(right)[1]);
    const possible = wanted.filter((value) => effects.some((effect) => effect === readOperator(value)[1]));
    const isNever = operator === "containsAny" ? possible.length === 0 : possible.length < wanted.length;
    return isNever ? FALSE : node;
  }
  if (operator === "containsAll" && contextAttribute(right) === "effects" && isLiteral(left)) {
    const listed = new Set(readList(readOperator(left)[1]).map((value) => readOperator(value)[1]));
    return effects.every((effect) => listed.has(effect)) ? TRUE : node;
  }
  return node;
}

function reduceBoth(operands: JsonValue, facts: KnownFacts): readonly [left: JsonValue, right: JsonValue] {
  const [left, right] = operandsOf(operands);
  return [reduceExpression(left, facts), reduceExpression(right, facts)];
}

const NO_REQUEST = new EvaluatedRequest(
  {
    principal: { type: "", id: "" },
    action: { type: "", id: "" },
    resource: { type: "", id: "" },
    context: {},
    entities: [],
  },
  new Map(),
);

/**
 * Evaluates an operator whose operands are all literals. Undefined if an operand is not a literal or the evaluation
 * fails.
 */
function evaluateClosed(node: JsonObject): JsonValue | undefined {
  const [, operands] = readOperator(node);
  if (!isJsonObject(operands)) return undefined;
  const open = Object.entries(operands).some(([name, operand]) => OPERANDS.has(name) && !isLiteral(operand));
  if (open) return undefined;
  try {
    return literalOf(compileExpression(node).evaluate(NO_REQUEST));
  } catch (fault) {
    if (fault instanceof EvaluationError || fault instanceof UnsupportedError) return undefined;
    throw fault;
  }
}
