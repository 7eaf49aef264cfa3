import { fromHex, HASH_SIZE } from "@narthex/contracts";
import { usageError } from "../terminal/command-error.ts";

/** Parses a hash that the user typed; throws a usage error that names the argument or option. */
export function parseContentHash(text: string, where: string): Uint8Array {
  const hash = fromHex(text);
  if (hash?.length !== HASH_SIZE) throw usageError(`${where} takes the ${2 * HASH_SIZE} hex digits of a BLAKE3 hash`);
  return hash;
}
