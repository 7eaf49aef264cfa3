import type { EntityName } from "./cedar.ts";
import { EntityValue } from "./cedar-value.ts";
import { ACTION_TYPE, type ActionAncestors } from "./evaluated-request.ts";

/** Of an action's id, the ids of the groups it is in: `git_push` is in `git`. */
export type ActionGroups = ReadonlyMap<string, readonly string[]>;

/** Groups of groups are groups, too. */
export function closeActionGroups(groups: ActionGroups): ActionAncestors {
  const closed = new Map<string, readonly EntityName[]>();
  for (const action of groups.keys()) {
    const above = new Set(groups.get(action));
    // The set grows while it is walked.
    for (const group of above) for (const higher of groups.get(group) ?? []) above.add(higher);
    closed.set(
      action,
      [...above].map((id) => new EntityValue(ACTION_TYPE, id)),
    );
  }
  return closed;
}
