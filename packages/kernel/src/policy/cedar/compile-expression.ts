import { isJsonObject, type JsonValue } from "@narthex/contracts";
import { isEscape } from "./expect-plain.ts";
import { constantOf, type Expression, type SharedExpressions } from "./expression.ts";
import { attribute, contextAttribute, getTag, hasAttribute, hasTag } from "./operators/attributes.ts";
import {
  equal,
  greater,
  greaterOrEqual,
  less,
  lessOrEqual,
  minus,
  negative,
  notEqual,
  plus,
  times,
} from "./operators/comparison.ts";
import { isIn, isOfType } from "./operators/entities.ts";
import { like } from "./operators/like.ts";
import { allOf, anyOf, ifThenElse, not } from "./operators/logic.ts";
import { recordOf } from "./operators/records.ts";
import { containsEach, containsOne, containsSome, isEmpty, setOf } from "./operators/sets.ts";
import { readEntity, readFields, readList, readOperator, readText } from "./read-node.ts";
import { UnsupportedError } from "./unsupported-error.ts";

/**
 * SECURITY: evaluating a rule that is nested deeper could overflow the stack. A chain of `&&` or `||` counts as one
 * level.
 */
const MAX_DEPTH = 200;

/** Compiles an expression of Cedar's JSON form to closures. */
export function compileExpression(
  node: JsonValue | undefined,
  shared: SharedExpressions = new Map(),
  depth = 0,
): Expression {
  if (depth > MAX_DEPTH) throw new UnsupportedError(`an expression is nested deeper than ${MAX_DEPTH}`);
  const [operator, operands] = readOperator(node);
  const below = (operand: JsonValue | undefined): Expression => compileExpression(operand, shared, depth + 1);
  const chain = CHAINS.get(operator);
  if (chain !== undefined) return chain(operandsOfChain(operator, node).map(below));
  const binary = BINARY.get(operator);
  if (binary !== undefined) {
    const fields = readFields(operands, ["left", "right"]);
    return binary(below(fields.get("left")), below(fields.get("right")));
  }
  const unary = UNARY.get(operator);
  if (unary !== undefined) return unary(below(readFields(operands, ["arg"]).get("arg")));
  const special = SPECIAL.get(operator);
  if (special !== undefined) return special(operands, below, shared);
  throw new UnsupportedError(`\`${operator}\` is not supported`);
}

const CHAINS = new Map([
  ["&&", allOf],
  ["||", anyOf],
]);

const BINARY = new Map([
  ["==", equal],
  ["!=", notEqual],
  ["<", less],
  ["<=", lessOrEqual],
  [">", greater],
  [">=", greaterOrEqual],
  ["+", plus],
  ["-", minus],
  ["*", times],
  ["in", isIn],
  ["contains", containsOne],
  ["containsAll", containsEach],
  ["containsAny", containsSome],
  ["hasTag", hasTag],
  ["getTag", getTag],
]);

const UNARY = new Map([
  ["!", not],
  ["neg", negative],
  ["isEmpty", isEmpty],
]);

type Below = (operand: JsonValue | undefined) => Expression;

const SPECIAL = new Map<string, (operands: JsonValue, below: Below, shared: SharedExpressions) => Expression>([
  ["Value", compileLiteral],
  ["Var", compileVariable],
  ["Set", (operands, below) => setOf(readList(operands).map(below))],
  ["Record", compileRecord],
  [".", compileAttribute],
  ["has", compileHas],
  ["like", compileLike],
  ["is", compileIs],
  ["if-then-else", compileCondition],
]);

/** Flattens `a && b && c`, which is `{a && b} && c`, without recursing for each operand. */
function operandsOfChain(operator: string, node: JsonValue | undefined): JsonValue[] {
  const operands: JsonValue[] = [];
  let rest = node;
  while (isJsonObject(rest) && Object.hasOwn(rest, operator)) {
    const fields = readFields(readOperator(rest)[1], ["left", "right"]);
    operands.push(fields.get("right") ?? null);
    rest = fields.get("left");
  }
  operands.push(rest ?? null);
  return operands.reverse();
}

function compileLiteral(value: JsonValue): Expression {
  switch (typeof value) {
    case "string":
    case "boolean":
      return constantOf(value);
    case "number":
      // Beyond 2^53 the JSON form has already been rounded, so the rule's original number is unknown.
      if (Number.isSafeInteger(value)) return constantOf(value);
      throw new UnsupportedError("a number beyond 2^53 is not supported");
    default:
      if (isJsonObject(value) && Object.hasOwn(value, "__entity")) return constantOf(readEntity(value));
      throw new UnsupportedError("a literal of an unknown kind is not supported");
  }
}

const VARIABLES = new Map<JsonValue, Expression>([
  ["principal", { evaluate: (frame) => frame.principal }],
  ["action", { evaluate: (frame) => frame.action }],
  ["resource", { evaluate: (frame) => frame.resource }],
  ["context", { evaluate: (frame) => frame.context }],
]);

function compileVariable(name: JsonValue): Expression {
  const variable = VARIABLES.get(name);
  if (variable === undefined) throw new UnsupportedError("an unknown variable is not supported");
  return variable;
}

function compileRecord(operands: JsonValue, below: Below): Expression {
  if (!isJsonObject(operands)) throw new UnsupportedError("a record has an unknown shape");
  const members = new Map<string, Expression>();
  for (const [name, value] of Object.entries(operands)) {
    // No request can contain such a record: Cedar's JSON would read it as an entity or extension value.
    if (isEscape(name)) throw new UnsupportedError(`a record with the reserved attribute \`${name}\` is not supported`);
    members.set(name, below(value));
  }
  return recordOf(members);
}

function compileAttribute(operands: JsonValue, below: Below, shared: SharedExpressions): Expression {
  const fields = readFields(operands, ["left", "attr"]);
  const left = fields.get("left");
  const name = readText(fields.get("attr"));
  const [operator, operand] = readOperator(left);
  if (operator !== "Var" || operand !== "context") return attribute(below(left), name);
  const known = shared.get(name);
  if (known !== undefined) return known;
  const made = contextAttribute(name);
  shared.set(name, made);
  return made;
}

function compileHas(operands: JsonValue, below: Below): Expression {
  const fields = readFields(operands, ["left", "attr"]);
  const attr = fields.get("attr");
  const path = typeof attr === "string" ? [attr] : readList(attr).map(readText);
  if (path.length === 0) throw new UnsupportedError("`has` is without an attribute");
  return hasAttribute(below(fields.get("left")), path);
}

function compileLike(operands: JsonValue, below: Below): Expression {
  const fields = readFields(operands, ["left", "pattern"]);
  const pieces = [""];
  for (const element of readList(fields.get("pattern"))) {
    if (element === "Wildcard") pieces.push("");
    else pieces.push(`${pieces.pop() ?? ""}${readText(readFields(element, ["Literal"]).get("Literal"))}`);
  }
  return like(below(fields.get("left")), pieces);
}

function compileIs(operands: JsonValue, below: Below): Expression {
  const fields = readFields(operands, ["left", "entity_type"], ["in"]);
  const group = fields.has("in") ? below(fields.get("in")) : undefined;
  return isOfType(below(fields.get("left")), readText(fields.get("entity_type")), group);
}

function compileCondition(operands: JsonValue, below: Below): Expression {
  const fields = readFields(operands, ["if", "then", "else"]);
  return ifThenElse(below(fields.get("if")), below(fields.get("then")), below(fields.get("else")));
}
