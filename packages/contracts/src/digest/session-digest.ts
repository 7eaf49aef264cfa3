import { HASH_SIZE } from "../limits.ts";
import { createBlake3 } from "./blake3.ts";
import { utf8 } from "./bytes.ts";
import { DomainHasher } from "./domain-hasher.ts";

/** The properties of a call that are equal in two runs with the same seed and the same inputs. */
export interface SessionCallIdentity {
  readonly toolName: string;
  readonly toolVersion: string;
  /** An empty array means that the hash or digest is absent; the same for the next two. */
  readonly definitionHash: Uint8Array;
  readonly inputDigest: Uint8Array;
  readonly resultHash: Uint8Array;
  /** `allow`, or `deny` with the reason. */
  readonly decision: string;
  /** Empty on success. */
  readonly errorCode: string;
}

const CALL = new DomainHasher("narthex/session-call/v1");
const SESSION_TAG = "narthex/session/v1";
const NO_HASH = new Uint8Array(HASH_SIZE);

/** SPEC: docs/formats/digests.md, "Session". */
export function digestCall(call: SessionCallIdentity): Uint8Array {
  return CALL.start()
    .measuredText(call.toolName)
    .measuredText(call.toolVersion)
    .bytes(hashOrNone(call.definitionHash))
    .bytes(hashOrNone(call.inputDigest))
    .measuredText(call.decision)
    .measuredText(call.errorCode)
    .bytes(hashOrNone(call.resultHash))
    .digest();
}

/** Accumulates the calls of a session. Calls that ran concurrently are added together. */
export interface SessionDigester {
  add(together: readonly Uint8Array[]): void;
  finish(): Uint8Array;
}

export function digestSession(): SessionDigester {
  const hasher = createBlake3();
  const tag = new Uint8Array(HASH_SIZE);
  tag.set(utf8(SESSION_TAG));
  hasher.update(tag);
  const count = new DataView(new ArrayBuffer(8));
  return {
    add(together) {
      count.setBigUint64(0, BigInt(together.length));
      hasher.update(new Uint8Array(count.buffer));
      for (const digest of [...together].sort(compareBytes)) hasher.update(digest);
    },
    finish: () => hasher.digest(),
  };
}

function hashOrNone(hash: Uint8Array): Uint8Array {
  if (hash.length === 0) return NO_HASH;
  if (hash.length !== HASH_SIZE) throw new RangeError(`a hash has ${HASH_SIZE} bytes`);
  return hash;
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  for (let index = 0; index < HASH_SIZE; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
