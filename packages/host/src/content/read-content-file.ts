import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type Blake3Stream, createBlake3, equalBytes, KernelError } from "@narthex/contracts";
import { storeUnavailable, systemErrorCode } from "../system/system-error.ts";

const CHUNK_BYTES = 256 * 1024;

export interface ContentSlice {
  /** Undefined if the digest cannot be the name of a file. */
  readonly path: string | undefined;
  readonly digest: Uint8Array;
  readonly offset: number;
  readonly limit: number;
}

/**
 * Streams a slice of one file. The caller owns each chunk.
 *
 * INVARIANT: when a whole file is read, its last chunk is yielded only after its hash was verified.
 */
export async function* readContentFile({ path, digest, offset, limit }: ContentSlice): AsyncGenerator<Uint8Array> {
  if (!isCount(offset) || !isCount(limit)) {
    throw new KernelError("INTERNAL", "offset and limit are whole numbers from 0 up");
  }
  if (path === undefined) throw notFound();
  const file = await openContentFile(path);
  try {
    const { size } = await file.stat();
    const end = Math.min(size, offset + limit);
    const hasher = offset === 0 && end === size ? createBlake3() : undefined;
    if (size === 0) checkHash(hasher, digest);
    let position = offset;
    while (position < end) {
      const chunk = await readChunk(file, position, Math.min(CHUNK_BYTES, end - position));
      position += chunk.length;
      hasher?.update(chunk);
      if (position === end) checkHash(hasher, digest);
      yield chunk;
    }
  } finally {
    await file.close();
  }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** SECURITY: does not follow a link in place of the file, and does not wait for a named pipe. */
async function openContentFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    const code = systemErrorCode(cause);
    if (code === "ENOENT") throw notFound(cause);
    if (code === "ELOOP" || code === "ENXIO") throw damaged("is not a file", cause);
    throw storeUnavailable("content cannot be read", cause);
  }
  try {
    if ((await file.stat()).isFile()) return file;
  } catch (cause) {
    await file.close();
    throw storeUnavailable("content cannot be read", cause);
  }
  await file.close();
  throw damaged("is not a file");
}

async function readChunk(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const chunk = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(chunk, filled, length - filled, position + filled).catch((cause: unknown) => {
      throw storeUnavailable("content cannot be read", cause);
    });
    if (bytesRead === 0) throw damaged("was cut while it was read");
    filled += bytesRead;
  }
  return chunk;
}

function checkHash(hasher: Blake3Stream | undefined, digest: Uint8Array): void {
  if (hasher !== undefined && !equalBytes(hasher.digest(), digest))
    throw damaged("does not have the hash it is stored under");
}

function notFound(cause?: unknown): KernelError {
  return new KernelError("CONTENT_NOT_FOUND", "there is no content with that hash", { cause });
}

export function damaged(problem: string, cause?: unknown): KernelError {
  return new KernelError("CONTENT_DAMAGED", `stored content ${problem}`, { cause });
}
