import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { readEntity, readFields, readList, readOperator } from "../cedar/read-node.ts";
import { UnsupportedError } from "../cedar/unsupported-error.ts";
import { entityNode, isShallow, negate, operandsOf, TRUE } from "./expression-nodes.ts";

/** A rule as a list of conditions that must all hold. */
export interface RuleConjuncts {
  /** The conditions that its scope puts on the principal and the resource. */
  readonly scope: readonly JsonValue[];
  /** Its conditions in source order; `unless` conditions are negated. */
  readonly conditions: readonly JsonValue[];
}

/** Maximum depth in JSON levels. An operator and its operands take two. */
const MAX_DEPTH = 200;

/** Splits a rule into conditions. Undefined if the rule has an unknown form or is nested too deeply. */
export function ruleConjuncts(rule: JsonObject): RuleConjuncts | undefined {
  try {
    const scope = (["principal", "resource"] as const).flatMap((name) => scopeCondition(name, rule[name] ?? null));
    const conditions = readList(rule["conditions"]).flatMap((clause) => {
      const fields = readFields(clause, ["kind", "body"]);
      const body = fields.get("body") ?? null;
      return conjunctsOf(fields.get("kind") === "unless" ? { "!": { arg: body } } : body);
    });
    return conditions.every((condition) => isShallow(condition, MAX_DEPTH)) ? { scope, conditions } : undefined;
  } catch (fault) {
    if (fault instanceof UnsupportedError) return undefined;
    throw fault;
  }
}

/** Splits `a && b` into `a` and `b`, and `!(a || b)` into `!a` and `!b`. Iterative, because chains can be long. */
function conjunctsOf(body: JsonValue): JsonValue[] {
  const found: JsonValue[] = [];
  const rest = [body];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    const parts = bothOf(node);
    if (parts === undefined) found.push(normalized(node));
    else rest.push(parts[1], parts[0]);
  }
  return found;
}

function bothOf(node: JsonValue): readonly [JsonValue, JsonValue] | undefined {
  const [operator, operands] = readOperator(node);
  if (operator === "&&") return operandsOf(operands);
  if (operator !== "!") return undefined;
  const inner = readFields(operands, ["arg"]).get("arg") ?? null;
  const [below, innerOperands] = readOperator(inner);
  if (below === "!") return [readFields(innerOperands, ["arg"]).get("arg") ?? null, TRUE];
  if (below !== "||") return undefined;
  const [left, right] = operandsOf(innerOperands);
  return [negate(left), negate(right)];
}

/** Rewrites `a != b` to `!(a == b)`, and `!(a != b)` to `a == b`, so that equal conditions have the same form. */
function normalized(node: JsonValue): JsonValue {
  const [operator, operands] = readOperator(node);
  if (operator === "!=") return { "!": { arg: { "==": operands } } };
  if (operator !== "!") return node;
  const [below, innerOperands] = readOperator(readFields(operands, ["arg"]).get("arg"));
  return below === "!=" ? { "==": innerOperands } : node;
}

/** The scope's constraint on the principal or resource, as conditions. */
function scopeCondition(name: "principal" | "resource", scope: JsonValue): JsonValue[] {
  if (!isJsonObject(scope)) throw new UnsupportedError("a scope has an unknown shape");
  const left: JsonValue = { Var: name };
  const entity = (node: JsonValue | undefined): JsonValue => {
    const { type, id } = readEntity(node);
    return entityNode(type, id);
  };
  switch (scope["op"]) {
    case "All":
      return [];
    case "==":
    case "in":
      if (scope["entity"] === undefined) throw new UnsupportedError("a template is not supported");
      return [{ [scope["op"]]: { left, right: entity(scope["entity"]) } }];
    case "is": {
      const group = scope["in"];
      const test: JsonObject = { left, entity_type: scope["entity_type"] ?? null };
      if (group === undefined) return [{ is: test }];
      if (!isJsonObject(group) || group["entity"] === undefined)
        throw new UnsupportedError("a template is not supported");
      return [{ is: test }, { in: { left, right: entity(group["entity"]) } }];
    }
    default:
      throw new UnsupportedError("a scope has an unknown shape");
  }
}
