import { type FileHandle, unlink } from "node:fs/promises";
import { createBlake3, KernelError } from "@narthex/contracts";
import type { ContentWriter } from "@narthex/kernel";
import { storeUnavailable } from "../system/system-error.ts";

/** Memory used by every open writer. */
const BUFFER_BYTES = 128 * 1024;

export interface TemporaryFile {
  readonly handle: FileHandle;
  readonly path: string;
  /** Makes the file durable and renames it, durably, to its digest. */
  publish(digest: Uint8Array): Promise<void>;
}

/**
 * Creates a writer for one temporary file. Calls take effect in order; after a failure the file is removed.
 *
 * SECURITY: bytes are copied first, then hashed and written from the copy. A caller that changes a chunk while it is
 * written changes the hash as well, so the content of a file always matches its name.
 */
export function createContentFileWriter(file: TemporaryFile): ContentWriter {
  const hasher = createBlake3();
  let buffer: Buffer | undefined;
  let filled = 0;
  let size = 0;
  /** Why nothing more can be written. */
  let ended: KernelError | undefined;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();

  async function flush(): Promise<void> {
    if (buffer === undefined || filled === 0) return;
    const bytes = buffer.subarray(0, filled);
    hasher.update(bytes);
    await writeAll(file.handle, bytes);
    size += filled;
    filled = 0;
  }

  async function append(chunk: Uint8Array): Promise<void> {
    let from = 0;
    while (from < chunk.length) {
      buffer ??= Buffer.allocUnsafeSlow(BUFFER_BYTES);
      const part = chunk.subarray(from, from + BUFFER_BYTES - filled);
      buffer.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled === BUFFER_BYTES) await flush();
    }
  }

  async function close(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    buffer = undefined;
    await file.handle.close();
  }

  async function discard(reason: KernelError): Promise<void> {
    ended = reason;
    await close().catch(() => undefined);
    await unlink(file.path).catch(() => undefined);
  }

  function inOrder<T>(step: () => Promise<T>): Promise<T> {
    const done = last.then(async () => {
      if (ended !== undefined) throw ended;
      try {
        return await step();
      } catch (cause) {
        const failure = storeUnavailable("content cannot be written", cause);
        await discard(failure);
        throw failure;
      }
    });
    last = done.catch(() => undefined);
    return done;
  }

  return {
    write: (chunk) => inOrder(() => append(chunk)),
    commit: () =>
      inOrder(async () => {
        await flush();
        const digest = hasher.digest();
        await file.publish(digest);
        ended = new KernelError("INTERNAL", "this content is committed already");
        await close();
        return { digest, size };
      }),
    abort() {
      const done = last.then(() =>
        ended === undefined ? discard(new KernelError("INTERNAL", "this content was given up")) : undefined,
      );
      last = done;
      return done;
    },
  };
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, null);
    written += bytesWritten;
  }
}
