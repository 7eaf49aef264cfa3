import { VerifiedFault } from "./verified-file.ts";

/** A number that a double holds exactly. */
export function exactNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new VerifiedFault("a number in it is too large");
  return Number(value);
}
