import { blake3, createBlake3 } from "@narthex/contracts";

export const TAG_BYTES = 32;
export const RECORD_TAG = tag("narthex/record/v1");
export const COMMITMENT_TAG = tag("narthex/commitment/v1");

/** Longer records are hashed incrementally instead of being copied after their tag. */
const SCRATCH_BYTES = 16 * 1024;
// INVARIANT: hashing is synchronous, so uses of this buffer never overlap.
const recordScratch = scratchAfter(RECORD_TAG, SCRATCH_BYTES);
const commitmentScratch = scratchAfter(COMMITMENT_TAG, TAG_BYTES + 64);

/** SPEC: docs/formats/digests.md: BLAKE3(tag, record). */
export function hashOfRecord(record: Uint8Array): Uint8Array {
  const end = TAG_BYTES + record.length;
  if (end <= SCRATCH_BYTES) {
    recordScratch.set(record, TAG_BYTES);
    return blake3(recordScratch.subarray(0, end));
  }
  const hasher = createBlake3();
  hasher.update(RECORD_TAG);
  hasher.update(record);
  return hasher.digest();
}

/** SPEC: docs/formats/digests.md: BLAKE3(tag, nonce, digest), 32 bytes each. */
export function commitmentTo(digest: Uint8Array, nonce: Uint8Array): Uint8Array {
  commitmentScratch.set(nonce, TAG_BYTES);
  commitmentScratch.set(digest, TAG_BYTES + 32);
  return blake3(commitmentScratch);
}

export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
}

function tag(text: string): Uint8Array {
  const bytes = new Uint8Array(TAG_BYTES);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function scratchAfter(start: Uint8Array, length: number): Uint8Array {
  const scratch = new Uint8Array(length);
  scratch.set(start);
  return scratch;
}
