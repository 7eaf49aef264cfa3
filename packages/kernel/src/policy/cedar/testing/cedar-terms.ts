import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import type { ActionGroups } from "../action-groups.ts";
import type { CedarDecision, CedarEntity, CedarPolicy, CedarRequest } from "../cedar.ts";
import { compileCedar } from "../compile-cedar.ts";

/** Shorthands for Cedar's JSON form. */
export const value = (literal: JsonValue): JsonObject => ({ Value: literal });
export const entity = (type: string, id: string): JsonObject => ({ Value: { __entity: { type, id } } });
export const variable = (name: string): JsonObject => ({ Var: name });
export const of = (left: JsonObject, attr: string): JsonObject => ({ ".": { left, attr } });
export const context = (attr: string): JsonObject => of(variable("context"), attr);
export const has = (left: JsonObject, ...path: string[]): JsonObject => ({
  has: { left, attr: path.length === 1 ? (path[0] ?? "") : path },
});
export const binary = (operator: string, left: JsonObject, right: JsonObject): JsonObject => ({
  [operator]: { left, right },
});
export const unary = (operator: string, arg: JsonObject): JsonObject => ({ [operator]: { arg } });
export const set = (...elements: JsonObject[]): JsonObject => ({ Set: elements });
export const choice = (condition: JsonObject, then: JsonObject, otherwise: JsonObject): JsonObject => ({
  "if-then-else": { if: condition, then, else: otherwise },
});
/** `*` is the wildcard. */
export const like = (left: JsonObject, pattern: string): JsonObject => ({
  like: {
    left,
    pattern: Array.from(pattern, (character) => (character === "*" ? "Wildcard" : { Literal: character })),
  },
});

const ALL = { op: "All" } as const;

export function policy(id: string, parts: JsonObject = {}): CedarPolicy {
  return { id, json: { effect: "permit", principal: ALL, action: ALL, resource: ALL, conditions: [], ...parts } };
}

export function when(body: JsonObject, kind = "when"): JsonObject {
  return { conditions: [{ kind, body }] };
}

const ENTITIES: readonly CedarEntity[] = [
  { uid: { type: "User", id: "ann" }, attrs: { age: 7 }, parents: [{ type: "Team", id: "red" }] },
  { uid: { type: "Team", id: "red" }, attrs: {}, parents: [{ type: "Firm", id: "all" }] },
];

export function requestOf(parts: Partial<CedarRequest> = {}): CedarRequest {
  return {
    principal: { type: "User", id: "ann" },
    action: { type: "Action", id: "read" },
    resource: { type: "Doc", id: "x" },
    context: {},
    entities: ENTITIES,
    ...parts,
  };
}

export function ask(
  policies: readonly CedarPolicy[],
  request: Partial<CedarRequest> = {},
  groups: ActionGroups = new Map(),
): CedarDecision {
  const { engine, unsupported } = compileCedar(policies, groups);
  assert.ok(engine, unsupported?.message);
  return engine.evaluate(requestOf(request));
}
