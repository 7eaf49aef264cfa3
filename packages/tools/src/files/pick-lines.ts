const LINE_FEED = 0x0a;

/** Streams some lines of a file, with their line ends. Reads no further than necessary. */
export async function* pickLines(
  content: AsyncIterable<Uint8Array>,
  first: number,
  count: number | undefined,
): AsyncGenerator<Uint8Array> {
  const end = count === undefined ? Number.POSITIVE_INFINITY : first + count;
  let line = 1;
  for await (const chunk of content) {
    let start = line >= first ? 0 : -1;
    let at = 0;
    while (at < chunk.length && line < end) {
      const feed = chunk.indexOf(LINE_FEED, at);
      if (feed === -1) break;
      line++;
      at = feed + 1;
      if (line === first) start = at;
    }
    const stop = line >= end ? at : chunk.length;
    if (start >= 0 && stop > start) yield chunk.subarray(start, stop);
    if (line >= end) return;
  }
}
