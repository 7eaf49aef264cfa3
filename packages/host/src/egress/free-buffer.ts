/**
 * Releases the memory of a chunk immediately after its last use.
 *
 * Every chunk has its own memory outside the heap. A large body passes through within a fraction of a second, and the
 * garbage collector would scan the whole heap repeatedly to find out that its chunks are unused, which took longer than
 * everything else together.
 *
 * INVARIANT: only for a chunk that is not empty and spans its entire ArrayBuffer. Any other ArrayBuffer may be partly
 * in use elsewhere, and all empty chunks may share one.
 */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
