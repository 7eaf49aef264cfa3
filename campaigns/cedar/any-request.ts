import type { CedarEntity, CedarRequest, EntityName } from "../../packages/kernel/src/policy/cedar/cedar.ts";
import type { Chance } from "../chance/chance.ts";
import { anyAttributes } from "./any-value.ts";
import { ACTIONS, DOCUMENTS, GROUPS, USERS } from "./cedar-world.ts";

/** A request of the world, with entities that say more or less about it. */
export function anyRequest(chance: Chance): CedarRequest {
  const principal = chance.oneIn(8) ? group(chance) : { type: "User", id: chance.pick(USERS) };
  const resource = chance.oneIn(8) ? group(chance) : { type: "Area::Doc", id: chance.pick(DOCUMENTS) };
  return {
    principal,
    action: chance.oneIn(20) ? { type: "Area::Action", id: "read" } : { type: "Action", id: chance.pick(ACTIONS) },
    resource,
    context: anyAttributes(chance, chance.oneIn(4) ? 2 : 1),
    entities: anyEntities(chance, { principal, resource }),
  };
}

function group(chance: Chance): EntityName {
  return { type: "Group", id: chance.pick(GROUPS) };
}

/** Parents stand further up in the world, so that nothing is in itself. Of the rest of the world there is little. */
function anyEntities(
  chance: Chance,
  { principal, resource }: Pick<CedarRequest, "principal" | "resource">,
): CedarEntity[] {
  const entities: CedarEntity[] = [];
  const add = (uid: EntityName, above: readonly EntityName[]): void => {
    const attrs = chance.oneIn(2) ? anyAttributes(chance, 0) : {};
    entities.push({ uid, attrs, parents: above.filter(() => chance.oneIn(2)) });
  };
  const groups = GROUPS.map((id) => ({ type: "Group", id }));
  if (!chance.oneIn(8) && principal.type !== "Group") add(principal, groups);
  if (!chance.oneIn(8) && resource.type !== "Group") add(resource, groups);
  for (const [place, uid] of groups.entries()) if (chance.oneIn(2)) add(uid, groups.slice(place + 1));
  if (chance.oneIn(20)) for (const number of Array(8).keys()) add({ type: "User", id: `other ${number}` }, groups);
  // Not what a kernel sends: actions that a request says something about itself.
  if (chance.oneIn(20)) add({ type: "Action", id: "write" }, [{ type: "Action", id: "reading" }]);
  if (chance.oneIn(20)) add({ type: "Area::Action", id: "read" }, [{ type: "Action", id: "all" }]);
  return chance.shuffle(entities);
}
