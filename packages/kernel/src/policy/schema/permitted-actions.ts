import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { ownField } from "../../capability/json-reader.ts";
import type { CedarPolicy } from "../cedar/cedar.ts";
import type { PolicySchema } from "./read-policy-schema.ts";

type Actions = Pick<PolicySchema, "actions" | "groupsOf">;

/**
 * Actions that may be listed to a session: those that at least one rule permits, whatever its conditions, and that no
 * rule forbids unconditionally for everyone.
 */
export function permittedActions(policies: readonly CedarPolicy[], schema: Actions): ReadonlySet<string> {
  const rules = policies.map(({ json }) => json);
  const permitted = actionsOf(
    rules.filter((rule) => rule["effect"] === "permit"),
    schema,
  );
  const forbidden = actionsOf(rules.filter(isFlatForbid), schema);
  return new Set([...permitted].filter((action) => !forbidden.has(action)));
}

/** The actions that these rules apply to. */
function actionsOf(rules: readonly JsonObject[], { actions, groupsOf }: Actions): ReadonlySet<string> {
  const named = new Set<string>();
  const groups = new Set<string>();
  for (const rule of rules) {
    const constraint = ownField(rule, "action");
    const operator = isJsonObject(constraint) ? constraint["op"] : undefined;
    if (!isJsonObject(constraint) || operator === "All") return new Set(actions);
    for (const id of namesIn(constraint)) (operator === "==" ? named : groups).add(id);
  }
  return new Set(actions.filter((action) => named.has(action) || groupsOf(action).some((group) => groups.has(group))));
}

/** Whether a rule forbids its actions to everyone without conditions. INVARIANT: false in case of doubt. */
function isFlatForbid(rule: JsonObject): boolean {
  const conditions = ownField(rule, "conditions");
  const isForAll = (place: string): boolean => {
    const constraint = ownField(rule, place);
    return isJsonObject(constraint) && constraint["op"] === "All";
  };
  const hasNoCondition = Array.isArray(conditions) && conditions.length === 0;
  return rule["effect"] === "forbid" && hasNoCondition && isForAll("principal") && isForAll("resource");
}

function namesIn(constraint: JsonObject): string[] {
  const entities = ownField(constraint, "entities");
  const list: readonly (JsonValue | undefined)[] = Array.isArray(entities)
    ? entities
    : [ownField(constraint, "entity")];
  return list.map(idOf).filter((id) => id !== undefined);
}

function idOf(entity: JsonValue | undefined): string | undefined {
  if (!isJsonObject(entity)) return undefined;
  const escaped = ownField(entity, "__entity");
  const id = ownField(isJsonObject(escaped) ? escaped : entity, "id");
  return typeof id === "string" ? id : undefined;
}
