import { VerifiedFault } from "./verified-file.ts";

/** Converts to a number; throws if a double cannot represent it exactly. */
export function exactNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new VerifiedFault("a number in it is too large");
  return Number(value);
}
