import type { JsonValue } from "@narthex/contracts";
import type { CedarPolicy } from "./cedar.ts";
import { compileExpression } from "./compile-expression.ts";
import { type ActionScope, compileScope, type EntityTest, readActionScope } from "./compile-scope.ts";
import type { Evaluate, SharedExpressions } from "./expression.ts";
import { expectBoolean } from "./operators/logic.ts";
import { readFields, readList } from "./read-node.ts";
import { UnsupportedError } from "./unsupported-error.ts";

export interface CompiledRule {
  readonly id: string;
  readonly isForbid: boolean;
  readonly actionScope: ActionScope;
  /**
   * Whether the rule is satisfied, for an action that matches its scope. A result that is not a boolean is an error.
   */
  readonly evaluate: Evaluate;
}

interface Condition {
  readonly evaluate: Evaluate;
  /** True for `when`, false for `unless`. */
  readonly satisfiedBy: boolean;
}

export function compileRule({ id, json }: CedarPolicy, shared: SharedExpressions): CompiledRule {
  const fields = readFields(json, ["effect", "principal", "action", "resource", "conditions"], ["annotations"]);
  const principal = compileScope(fields.get("principal"));
  const resource = compileScope(fields.get("resource"));
  const conditions = readList(fields.get("conditions")).map((node) => compileCondition(node, shared));
  return {
    id,
    isForbid: readEffect(fields.get("effect")) === "forbid",
    actionScope: readActionScope(fields.get("action")),
    evaluate: combine(principal, resource, conditions),
  };
}

function combine(
  principal: EntityTest | undefined,
  resource: EntityTest | undefined,
  conditions: readonly Condition[],
): Evaluate {
  const satisfied = combineConditions(conditions);
  if (principal === undefined && resource === undefined) return satisfied;
  return (frame) => {
    if (principal !== undefined && !principal(frame.principal, frame)) return false;
    if (resource !== undefined && !resource(frame.resource, frame)) return false;
    return satisfied(frame);
  };
}

/** Combines the conditions. Rules with no condition or a single `when`, the most common ones, have no overhead. */
function combineConditions(conditions: readonly Condition[]): Evaluate {
  const [first, second] = conditions;
  if (first === undefined) return () => true;
  if (second === undefined && first.satisfiedBy) return first.evaluate;
  return (frame) => {
    for (const { evaluate, satisfiedBy } of conditions) {
      if (expectBoolean(evaluate(frame)) !== satisfiedBy) return false;
    }
    return true;
  };
}

function compileCondition(node: JsonValue, shared: SharedExpressions): Condition {
  const fields = readFields(node, ["kind", "body"]);
  const kind = fields.get("kind");
  if (kind !== "when" && kind !== "unless") throw new UnsupportedError("an unknown kind of condition is not supported");
  return { evaluate: compileExpression(fields.get("body"), shared).evaluate, satisfiedBy: kind === "when" };
}

function readEffect(effect: JsonValue | undefined): "permit" | "forbid" {
  if (effect === "permit" || effect === "forbid") return effect;
  throw new UnsupportedError("an unknown effect is not supported");
}
