/**
 * Stack bytes of V8 per unit of call depth. Its 16 slots and a frame's own fields take less than 256 bytes; the rest is
 * for frames that the optimizing compiler builds from several inlined functions.
 */
const STACK_BYTES_PER_DEPTH = 1024;
/** Reserve for the host's own functions, and for small functions of a module that do not count toward the depth. */
const KEPT_FREE_BYTES = 1 << 20;

/**
 * The stack size that a thread needs so that a module always ends by the depth limit, which is the same everywhere, and
 * never by a stack overflow.
 */
export function stackBytesFor(maxDepth: number): number {
  return maxDepth * STACK_BYTES_PER_DEPTH + KEPT_FREE_BYTES;
}
