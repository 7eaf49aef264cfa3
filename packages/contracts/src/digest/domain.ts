import { HASH_SIZE } from "../limits.ts";
import { DomainHasher } from "./domain-hasher.ts";

/** SPEC: docs/formats/digests.md. Nothing here is asynchronous, so one hasher each is enough. */
const RECORD = new DomainHasher("narthex/record/v1");
const COMMITMENT = new DomainHasher("narthex/commitment/v1");
const REQUEST = new DomainHasher("narthex/request/v1");
const TOKEN = new DomainHasher("narthex/token/v1");

/** The hash of one encoded ledger record. */
export function hashRecord(record: Uint8Array): Uint8Array {
  return RECORD.start().bytes(record).digest();
}

/** Binds a digest without showing it: whoever lacks the nonce can neither read nor guess it back. */
export function commitTo(digest: Uint8Array, nonce: Uint8Array): Uint8Array {
  if (digest.length !== HASH_SIZE || nonce.length !== HASH_SIZE) {
    throw new RangeError(`a commitment takes a digest and a nonce of ${HASH_SIZE} bytes each`);
  }
  return COMMITMENT.start().bytes(nonce).bytes(digest).digest();
}

export interface RequestIdentity {
  readonly toolName: string;
  /** As asked; empty where none was. */
  readonly toolVersion: string;
  readonly inputDigest: Uint8Array;
}

/** What a call asks for, whoever asks and under whichever request id. */
export function digestRequest({ toolName, toolVersion, inputDigest }: RequestIdentity): Uint8Array {
  if (inputDigest.length !== HASH_SIZE) throw new RangeError(`an input digest has ${HASH_SIZE} bytes`);
  return REQUEST.start().measuredText(toolName).measuredText(toolVersion).bytes(inputDigest).digest();
}

/** The form in which a session's token is stored. */
export function hashToken(token: string): Uint8Array {
  return TOKEN.start().text(token).digest();
}
