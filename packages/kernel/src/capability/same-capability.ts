import type { Capability } from "./capability.ts";
import { contains } from "./covers.ts";

/** Whether two capabilities are the same right, regardless of how each is written. */
export function sameCapability(left: Capability, right: Capability): boolean {
  if (left.kind !== right.kind) return false;
  if (isEmpty(left) || isEmpty(right)) return isEmpty(left) && isEmpty(right);
  return contains(left, right) && contains(right, left);
}

function isEmpty(capability: Capability): boolean {
  if ("prefixes" in capability) return capability.prefixes.length === 0;
  if ("hosts" in capability) return capability.hosts.length === 0;
  if ("names" in capability) return capability.names.length === 0;
  return "models" in capability && capability.models.length === 0;
}
