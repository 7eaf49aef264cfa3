import type { JsonValue } from "@narthex/contracts";
import type { EntityValue } from "./cedar-value.ts";
import { readEntity, readFields, readList, readText } from "./read-node.ts";
import type { EvaluatedRequest } from "./evaluated-request.ts";
import { UnsupportedError } from "./unsupported-error.ts";

export type EntityTest = (entity: EntityValue, request: EvaluatedRequest) => boolean;

/** The actions a rule applies to; undefined means all. */
export type ActionScope = { readonly isGroup: boolean; readonly actions: readonly EntityValue[] } | undefined;

/** Compiles a rule's constraint on its principal or resource; undefined if none exists. */
export function compileScope(node: JsonValue | undefined): EntityTest | undefined {
  const operator = operatorOf(node);
  switch (operator) {
    case "All":
      readFields(node, ["op"]);
      return undefined;
    case "==": {
      const named = entityOf(node, ["op"]);
      return (entity) => entity.id === named.id && entity.type === named.type;
    }
    case "in": {
      const group = entityOf(node, ["op"]);
      return (entity, frame) => frame.isIn(entity, group);
    }
    case "is": {
      const fields = readFields(node, ["op", "entity_type"], ["in"]);
      const type = readText(fields.get("entity_type"));
      if (!fields.has("in")) return (entity) => entity.type === type;
      const group = entityOf(fields.get("in"));
      return (entity, frame) => entity.type === type && frame.isIn(entity, group);
    }
    default:
      throw new UnsupportedError(`a scope with \`${operator}\` is not supported`);
  }
}

export function readActionScope(node: JsonValue | undefined): ActionScope {
  const operator = operatorOf(node);
  switch (operator) {
    case "All":
      readFields(node, ["op"]);
      return undefined;
    case "==":
      return { isGroup: false, actions: [entityOf(node, ["op"])] };
    case "in": {
      const fields = readFields(node, ["op"], ["entity", "entities"]);
      if (!fields.has("entities")) return { isGroup: true, actions: [entityOf(node, ["op"])] };
      const { entities } = Object.fromEntries(readFields(node, ["op", "entities"]));
      return { isGroup: true, actions: readList(entities).map(readEntity) };
    }
    default:
      throw new UnsupportedError(`an action scope with \`${operator}\` is not supported`);
  }
}

export function testAction(scope: ActionScope, request: EvaluatedRequest): boolean {
  if (scope === undefined) return true;
  const { action } = request;
  if (scope.isGroup) return scope.actions.some((group) => request.isIn(action, group));
  return scope.actions.some(({ type, id }) => action.id === id && action.type === type);
}

function operatorOf(node: JsonValue | undefined): string {
  return readText(readFields(node, ["op"], ["entity", "entities", "slot", "entity_type", "in"]).get("op"));
}

function entityOf(node: JsonValue | undefined, others: readonly string[] = []): EntityValue {
  const fields = readFields(node, others, ["entity", "slot"]);
  if (fields.has("slot")) throw new UnsupportedError("a template is not supported");
  return readEntity(fields.get("entity"));
}
