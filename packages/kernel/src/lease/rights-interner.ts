import type { Capability } from "../capability/capability.ts";
import type { DelegableRights } from "./lease.ts";

/**
 * Shares the lists of equal rights, because most leases of a workspace are equal. The lists of a lease never change.
 */
export function createRightsInterner(): (rights: DelegableRights) => DelegableRights {
  let last: DelegableRights | undefined;
  return (rights) => {
    if (last === undefined || !isEqual(last, rights)) last = rights;
    return last;
  };
}

function isEqual(left: DelegableRights, right: DelegableRights): boolean {
  return (
    left.highestTier === right.highestTier &&
    textOf(left.toolPatterns) === textOf(right.toolPatterns) &&
    textOf(left.capabilities) === textOf(right.capabilities)
  );
}

function textOf(list: readonly string[] | readonly Capability[]): string {
  return JSON.stringify(list);
}
