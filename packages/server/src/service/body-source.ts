import { Code, ConnectError } from "@connectrpc/connect";
import { ByteQueue } from "../framed/byte-queue.ts";

/** The bytes of a request's body, pulled on demand, so that a slow consumer slows its sender. */
export interface BodySource {
  /** Bytes that have arrived and were not consumed. */
  readonly queue: ByteQueue;
  /** Waits for more; false at the end of the body. Throws if a time limit passes first. */
  more(options: { readonly timeoutMs?: number }): Promise<boolean>;
}

export function createBodySource(body: AsyncIterable<Uint8Array>): BodySource {
  const queue = new ByteQueue();
  const chunks = body[Symbol.asyncIterator]();
  return {
    queue,
    async more({ timeoutMs }) {
      const next = chunks.next();
      const result = timeoutMs === undefined ? await next : await within(next, timeoutMs);
      if (result.done === true) return false;
      queue.push(result.value);
      return true;
    },
  };
}

/** Wraps a body so that it fails when its sender stalls. */
export async function* withIdleTimeout(body: AsyncIterable<Uint8Array>, timeoutMs: number): AsyncGenerator<Uint8Array> {
  const source = createBodySource(body);
  while (await source.more({ timeoutMs })) yield source.queue.take(source.queue.length);
}

async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ConnectError("the request was not sent in time; send it in one go", Code.DeadlineExceeded)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
