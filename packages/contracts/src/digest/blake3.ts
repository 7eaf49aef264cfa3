import { Blake3Hasher, blake3 as hashNative } from "@napi-rs/blake-hash";
import { hash as hashPortable } from "blake3-jit";

/** Up to this length a call into native code costs more than hashing in compiled JavaScript. */
const NATIVE_FROM_BYTES = 2048;
/**
 * Most programs make fewer calls than this. For them, interpreting and compiling the JavaScript would take a hundred
 * times as long.
 */
const NATIVE_CALLS_FIRST = 2000;
let calls = 0;

export interface Blake3Stream {
  /** Copies the bytes it keeps, so the caller may reuse the chunk. */
  update(chunk: Uint8Array): void;
  /** Ends the stream. */
  digest(): Uint8Array;
}

/** The 32-byte BLAKE3 hash. The caller owns the array. */
export function blake3(bytes: Uint8Array): Uint8Array {
  if (calls >= NATIVE_CALLS_FIRST && bytes.length <= NATIVE_FROM_BYTES) return hashPortable(bytes);
  calls++;
  // The copy is an ordinary array in JavaScript memory, like the result of the portable implementation.
  return new Uint8Array(hashNative(bytes));
}

/** Hashes a stream of chunks. Short streams never create a native hasher. */
export function createBlake3(): Blake3Stream {
  let native: Blake3Hasher | undefined;
  let head: Uint8Array | undefined;
  let headLength = 0;
  return {
    update(chunk) {
      if (native !== undefined) {
        native.update(chunk);
        return;
      }
      if (headLength + chunk.length <= NATIVE_FROM_BYTES) {
        head ??= new Uint8Array(NATIVE_FROM_BYTES);
        head.set(chunk, headLength);
        headLength += chunk.length;
        return;
      }
      native = new Blake3Hasher();
      if (head !== undefined) native.update(head.subarray(0, headLength));
      native.update(chunk);
    },
    digest() {
      if (native !== undefined) return new Uint8Array(native.digestBuffer());
      return blake3(head === undefined ? new Uint8Array(0) : head.subarray(0, headLength));
    },
  };
}
