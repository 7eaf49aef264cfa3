import type { JsonObject } from "@narthex/contracts";
import type { EntityName } from "../../packages/kernel/src/policy/cedar/cedar.ts";

/** The small world that generated rules and requests speak of: small, so that they meet. */
export const ATTRIBUTES = {
  long: ["n", "count"],
  string: ["s", "path"],
  bool: ["b", "__proto__"],
  set: ["tags", "numbers", "mixed"],
  record: ["r", "constructor"],
} as const;

export const ATTRIBUTE_NAMES: readonly string[] = [...Object.values(ATTRIBUTES).flat(), "toString", "a b", ""];

export const STRINGS = ["", "a", "ab", "abab", "ba", "*", "a*b", "src/a.ts", "🤖", "🤖a", "__proto__", "\u0000", '"'];

/** The largest whole number that the JSON form can tell. */
export const LARGEST = Number.MAX_SAFE_INTEGER;
export const LONGS = [0, 0, 1, 1, 2, 3, -1, -2, 7, 1023, 1024, LARGEST, -LARGEST, LARGEST - 1];

export const USERS = ["a", "b", "__proto__"];
export const GROUPS = ["low", "middle", "high"];
export const DOCUMENTS = ["x", "y z", "🤖"];
export const ACTIONS = ["read", "list", "write", "reading", "all", "unheard-of"];

/** Of each action the groups it is in. `unheard-of` is in none, and in no list of actions. */
export const ACTION_GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ["read", ["reading"]],
  ["list", ["reading"]],
  ["write", ["all"]],
  ["reading", ["all"]],
]);

export const ENTITIES: readonly EntityName[] = [
  ...USERS.map((id) => ({ type: "User", id })),
  ...GROUPS.map((id) => ({ type: "Group", id })),
  ...DOCUMENTS.map((id) => ({ type: "Area::Doc", id })),
  ...ACTIONS.map((id) => ({ type: "Action", id })),
  { type: "Area::Action", id: "read" },
];

export const TYPES = ["User", "Group", "Area::Doc", "Action", "Area::Action", "Nothing"];

export function asJson({ type, id }: EntityName): JsonObject {
  return { type, id };
}
