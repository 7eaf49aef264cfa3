import { HASH_SIZE } from "../limits.ts";
import { DomainHasher } from "./domain-hasher.ts";

/** SPEC: docs/formats/digests.md. Hashing is synchronous, so one hasher per domain is enough. */
const RECORD = new DomainHasher("narthex/record/v1");
const COMMITMENT = new DomainHasher("narthex/commitment/v1");
const REQUEST = new DomainHasher("narthex/request/v1");
const TOKEN = new DomainHasher("narthex/token/v1");

/** The hash of one encoded ledger record. */
export function hashRecord(record: Uint8Array): Uint8Array {
  return RECORD.start().bytes(record).digest();
}

/** Commits to a digest without revealing it: without the nonce it can neither be read nor guessed. */
export function commitTo(digest: Uint8Array, nonce: Uint8Array): Uint8Array {
  if (digest.length !== HASH_SIZE || nonce.length !== HASH_SIZE) {
    throw new RangeError(`a commitment takes a digest and a nonce of ${HASH_SIZE} bytes each`);
  }
  return COMMITMENT.start().bytes(nonce).bytes(digest).digest();
}

export interface RequestIdentity {
  readonly toolName: string;
  /** As in the request; empty if unspecified. */
  readonly toolVersion: string;
  readonly inputDigest: Uint8Array;
}

/** Identifies the content of a call, independent of the caller and the request id. */
export function digestRequest({ toolName, toolVersion, inputDigest }: RequestIdentity): Uint8Array {
  if (inputDigest.length !== HASH_SIZE) throw new RangeError(`an input digest has ${HASH_SIZE} bytes`);
  return REQUEST.start().measuredText(toolName).measuredText(toolVersion).bytes(inputDigest).digest();
}

/** The form in which a session's token is stored. */
export function hashToken(token: string): Uint8Array {
  return TOKEN.start().text(token).digest();
}
