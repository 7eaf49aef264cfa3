import { HASH_SIZE, KernelError } from "@narthex/contracts";

/** Converts a uint64 of the wire to a number. */
export function toWholeNumber(value: bigint, field: string): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
    const message = `\`${field}\` is too large`;
    throw new KernelError("INVALID_INPUT", message, { violations: [{ field, rule: "range", message }] });
  }
  return Number(value);
}

/** Checks a hash sent by a client. */
export function toHash(value: Uint8Array, field: string): Uint8Array {
  if (value.length !== HASH_SIZE) {
    const message = `\`${field}\` is the ${HASH_SIZE} bytes of a BLAKE3 hash`;
    throw new KernelError("INVALID_INPUT", message, { violations: [{ field, rule: "exact_length", message }] });
  }
  return value;
}
