import { blake3, create, equalBytes, fromBinary, HASH_SIZE, toBinary, utf8 } from "@narthex/contracts";
import { type VerifiedLedger, VerifiedLedgerSchema } from "@narthex/contracts/verified";

const HEAD = utf8("narthex/verified/v1\n");

/**
 * Maximum size of the file: leaves room in the largest request to a kernel, and holds the chains of some 80,000
 * sessions.
 */
export const MAX_VERIFIED_BYTES = 7 * 1024 * 1024;

/** The stored state of a verification is damaged, or is not such a state at all. */
export class VerifiedFault extends Error {}

/** SPEC: docs/formats/verified.md. Undefined if the result is too large. */
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
 * Throws a VerifiedFault. SECURITY: the hash detects damage and not an attacker, who could write a different file with
 * a valid hash. The file itself names the Merkle tree that it belongs to, and a run that continues from it checks that.
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
