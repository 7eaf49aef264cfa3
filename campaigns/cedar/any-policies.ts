import type { JsonObject } from "@narthex/contracts";
import type { CedarPolicy } from "../../packages/kernel/src/policy/cedar/cedar.ts";
import type { Chance } from "../chance/chance.ts";
import { anyExpression } from "./any-expression.ts";
import { ACTIONS, asJson, ENTITIES, GROUPS, TYPES, USERS } from "./cedar-world.ts";

const MOST_RULES = 14;

/** A policy set in Cedar's JSON form; the ids are in no order. */
export function anyPolicies(chance: Chance): CedarPolicy[] {
  const rules = chance.several(MOST_RULES, () => anyRule(chance), 1);
  return chance.shuffle(rules.map((json, number) => ({ id: `rule ${number}`, json })));
}

function anyRule(chance: Chance): JsonObject {
  const condition = (): JsonObject => ({
    kind: chance.oneIn(3) ? "unless" : "when",
    body: anyExpression(chance, "bool", 1 + chance.below(4)),
  });
  return {
    effect: chance.oneIn(4) ? "forbid" : "permit",
    principal: anyScope(chance, "User", USERS),
    action: anyActionScope(chance),
    resource: anyScope(chance, "Area::Doc", ["x"]),
    conditions: chance.several(chance.pick([1, 1, 2, 3]), condition, chance.oneIn(6) ? 0 : 1),
  };
}

function anyScope(chance: Chance, type: string, ids: readonly string[]): JsonObject {
  const group = { type: "Group", id: chance.pick(GROUPS) };
  const named = chance.oneIn(6) ? asJson(chance.pick(ENTITIES)) : { type, id: chance.pick(ids) };
  switch (chance.below(12)) {
    case 0:
      return { op: "==", entity: named };
    case 1:
      return { op: "in", entity: chance.oneIn(4) ? named : group };
    case 2:
      return { op: "is", entity_type: chance.pick([type, type, ...TYPES]) };
    case 3:
      return { op: "is", entity_type: chance.pick([type, type, ...TYPES]), in: { entity: group } };
    default:
      return { op: "All" };
  }
}

function anyActionScope(chance: Chance): JsonObject {
  const action = (): JsonObject => ({
    type: chance.oneIn(12) ? "Area::Action" : "Action",
    id: chance.pick(ACTIONS),
  });
  switch (chance.below(5)) {
    case 0:
      return { op: "==", entity: action() };
    case 1:
      return { op: "in", entity: action() };
    case 2:
      return { op: "in", entities: chance.several(3, action) };
    default:
      return { op: "All" };
  }
}
