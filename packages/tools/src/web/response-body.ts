import { KernelError } from "@narthex/contracts";

/** The beginning of a body, and access to the rest. */
export interface BodyStart {
  readonly bytes: Uint8Array;
  /** Whether the body ended within the limit. */
  readonly isWhole: boolean;
  /** The whole body from its first byte; can be iterated once. Ending the iteration early cancels the body. */
  all(): AsyncGenerator<Uint8Array>;
}

/** Reads until the limit is exceeded or the body ends. */
export async function readBodyStart(body: AsyncIterable<Uint8Array>, limit: number): Promise<BodyStart> {
  const iterator = body[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isWhole = false;
  while (size <= limit && !isWhole) {
    const next = await iterator.next();
    if (next.done === true) isWhole = true;
    else {
      // Copied, because the source may reuse its buffer.
      chunks.push(next.value.slice());
      size += next.value.length;
    }
  }
  return {
    bytes: joinBytes(chunks, size),
    isWhole,
    async *all() {
      try {
        yield* chunks;
        for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
      } finally {
        // Ending this iteration early ends the iteration of the body too.
        await iterator.return?.();
      }
    },
  };
}

/** Reads the whole body. Throws RESOURCE_EXCEEDED if it exceeds the limit. */
export async function readWholeBody(body: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const beginning = await readBodyStart(body, limit);
  if (beginning.isWhole) return beginning.bytes;
  for await (const _ of beginning.all()) break;
  throw new KernelError("RESOURCE_EXCEEDED", `the answer is larger than ${limit} bytes`);
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8 text; undefined for bytes that are not text. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function joinBytes(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
