import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { ownField } from "../../capability/json-reader.ts";
import type { CedarPolicy } from "../cedar/cedar.ts";
import type { PolicySchema } from "./read-policy-schema.ts";

/** Every action that some rule permits for someone, whatever its conditions: what a session may be shown. */
export function permittedActions(
  policies: readonly CedarPolicy[],
  { actions, groupsOf }: Pick<PolicySchema, "actions" | "groupsOf">,
): ReadonlySet<string> {
  const named = new Set<string>();
  const groups = new Set<string>();
  for (const { json } of policies) {
    if (json["effect"] !== "permit") continue;
    const constraint = ownField(json, "action");
    const operator = isJsonObject(constraint) ? constraint["op"] : undefined;
    if (!isJsonObject(constraint) || operator === "All") return new Set(actions);
    for (const id of namesIn(constraint)) (operator === "==" ? named : groups).add(id);
  }
  return new Set(actions.filter((action) => named.has(action) || groupsOf(action).some((group) => groups.has(group))));
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
