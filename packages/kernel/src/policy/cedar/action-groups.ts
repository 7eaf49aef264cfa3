import type { EntityName } from "./cedar.ts";
import { EntityValue } from "./cedar-value.ts";
import { ACTION_TYPE, type ActionAncestors } from "./evaluated-request.ts";

/** Maps the id of an action to the ids of the groups that contain it directly: `git_push` is in `git`. */
export type ActionGroups = ReadonlyMap<string, readonly string[]>;

/** Computes the transitive closure: groups can be members of groups. */
export function closeActionGroups(groups: ActionGroups): ActionAncestors {
  const closed = new Map<string, readonly EntityName[]>();
  for (const action of groups.keys()) {
    const above = new Set(groups.get(action));
    // The loop also visits the groups it adds to the set.
    for (const group of above) for (const higher of groups.get(group) ?? []) above.add(higher);
    closed.set(
      action,
      [...above].map((id) => new EntityValue(ACTION_TYPE, id)),
    );
  }
  return closed;
}
