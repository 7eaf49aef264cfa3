/**
 * What a unit of call depth may take of V8's stack. Its 16 slots and a frame's own fields are less than 256 bytes; the
 * rest is for frames that the optimising compiler makes of several functions.
 */
const STACK_BYTES_PER_DEPTH = 1024;
/** For the host's own functions, and the small ones of a module that are not counted. */
const KEPT_FREE_BYTES = 1 << 20;

/** The stack that a thread needs so that a module ends by its depth, the same everywhere, and never by the stack. */
export function stackBytesFor(maxDepth: number): number {
  return maxDepth * STACK_BYTES_PER_DEPTH + KEPT_FREE_BYTES;
}
