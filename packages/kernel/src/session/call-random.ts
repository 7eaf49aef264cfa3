import { blake3, HASH_SIZE, KernelError, utf8 } from "@narthex/contracts";

const SEED_AT = 32;
const CALL_NUMBER_AT = SEED_AT + HASH_SIZE;
const COUNTER_AT = CALL_NUMBER_AT + 8;

// INVARIANT: filled and hashed without awaiting in between, so that all streams can share one buffer.
const blockInput = new DataView(new ArrayBuffer(COUNTER_AT + 8));
const blockInputBytes = new Uint8Array(blockInput.buffer);
blockInputBytes.set(utf8("narthex/random/v1"));

/** A single request for more than this is a mistake, and would block the thread. */
const MAX_BYTES_AT_ONCE = 1_048_576;

/** The seeded random bytes of one call, in one continuous stream. */
export interface CallRandom {
  /** The next bytes. The caller owns the array. */
  bytes(length: number): Uint8Array;
}

/**
 * SPEC: docs/formats/digests.md. Block n of the stream is BLAKE3(tag, seed, call number, n): 32 bytes each, numbers as
 * 64-bit big-endian. The same seed and number give the same bytes on every machine, and nothing is computed until the
 * first byte is requested.
 */
export function createCallRandom(seed: Uint8Array, callNumber: number): CallRandom {
  let block = NO_BYTES;
  let used = 0;
  let counter = 0;

  return {
    bytes(length) {
      if (!Number.isInteger(length) || length < 0 || length > MAX_BYTES_AT_ONCE) {
        throw new KernelError("RESOURCE_EXCEEDED", `ask for 0 to ${MAX_BYTES_AT_ONCE} random bytes at a time`);
      }
      const result = new Uint8Array(length);
      for (let filled = 0; filled < length; ) {
        if (used === block.length) {
          block = hashBlock(seed, callNumber, counter++);
          used = 0;
        }
        const part = block.subarray(used, used + length - filled);
        result.set(part, filled);
        used += part.length;
        filled += part.length;
      }
      return result;
    },
  };
}

const NO_BYTES: Uint8Array = new Uint8Array(0);

function hashBlock(seed: Uint8Array, callNumber: number, counter: number): Uint8Array {
  if (seed.length !== HASH_SIZE) throw new KernelError("INTERNAL", `a seed has ${HASH_SIZE} bytes, not ${seed.length}`);
  blockInputBytes.set(seed, SEED_AT);
  setUint64(CALL_NUMBER_AT, callNumber);
  setUint64(COUNTER_AT, counter);
  return blake3(blockInputBytes);
}

function setUint64(at: number, value: number): void {
  blockInput.setUint32(at, Math.floor(value / 2 ** 32));
  blockInput.setUint32(at + 4, value % 2 ** 32);
}
