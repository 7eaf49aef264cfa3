import { blake3, create, equalBytes, fromBinary, HASH_SIZE, toBinary, utf8 } from "@narthex/contracts";
import { type VerifiedLedger, VerifiedLedgerSchema } from "@narthex/contracts/verified";

const HEAD = utf8("narthex/verified/v1\n");

/** As much as a request to a kernel may hold, with room to spare: the chains of some 80,000 sessions. */
export const MAX_VERIFIED_BYTES = 7 * 1024 * 1024;

/** What is kept of a verification is not what it was when it was written, or is something else altogether. */
export class VerifiedFault extends Error {}

/** SPEC: docs/formats/verified.md. Undefined if it is more than may be kept. */
export function encodeVerified(ledger: Omit<VerifiedLedger, "$typeName" | "$unknown">): Uint8Array | undefined {
  const message = toBinary(VerifiedLedgerSchema, create(VerifiedLedgerSchema, ledger));
  const bytes = new Uint8Array(HEAD.length + HASH_SIZE + message.length);
  if (bytes.length > MAX_VERIFIED_BYTES) return undefined;
  bytes.set(HEAD);
  bytes.set(blake3(message), HEAD.length);
  bytes.set(message, HEAD.length + HASH_SIZE);
  return bytes;
}

/**
 * Throws a VerifiedFault. SECURITY: the hash finds damage, not malice: whoever can write the file can make another. What binds it
 * to a log is in it, and is checked by whoever goes on from it.
 */
export function decodeVerified(bytes: Uint8Array): VerifiedLedger {
  const start = HEAD.length + HASH_SIZE;
  if (bytes.length > MAX_VERIFIED_BYTES) throw new VerifiedFault("it is too large");
  if (bytes.length < start || !equalBytes(bytes.subarray(0, HEAD.length), HEAD)) {
    throw new VerifiedFault("it does not begin like one");
  }
  const message = bytes.subarray(start);
  if (!equalBytes(bytes.subarray(HEAD.length, start), blake3(message))) throw new VerifiedFault("it is damaged");
  try {
    return fromBinary(VerifiedLedgerSchema, message);
  } catch {
    throw new VerifiedFault("it cannot be read");
  }
}
