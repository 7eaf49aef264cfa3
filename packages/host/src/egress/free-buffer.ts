/**
 * Gives the memory of a piece back at once, when the last who needed it is done with it.
 *
 * Every piece that is read has memory of its own, which is not the heap's: a large body passes through here within a
 * fraction of a second, and to find out that nobody holds its pieces the whole heap is searched, again and again. That
 * took longer than everything else together.
 *
 * INVARIANT: only of a piece that is all of its memory, and some. Of any other a part may be somebody else's; of none at
 * all there is one that all share.
 */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
