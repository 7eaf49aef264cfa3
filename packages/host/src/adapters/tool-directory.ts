import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isKernelError, KernelError } from "@narthex/contracts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const O_PATH = 0o10000000;

/** The content of one file. */
export interface FileContent {
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/**
 * An open handle to the directory in which a tool's author keeps it.
 *
 * SECURITY: every step opens one name relative to an open directory and follows no link, and the bytes of a file are
 * read once from the open handle, so nothing can be swapped between check and use.
 */
export class ToolDirectory {
  /** Real path of the directory. */
  readonly path: string;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** Opens the directory that contains this file. Returns it with the file's name in it. */
  static async openParentOf(file: string): Promise<{ readonly directory: ToolDirectory; readonly name: string }> {
    try {
      const path = await realpath(dirname(file));
      return { directory: new ToolDirectory(path, await open(path, O_PATH | O_DIRECTORY)), name: basename(file) };
    } catch (cause) {
      throw unreadable(file, cause);
    }
  }

  /** Reads a file. Throws if the path contains a link, or does not end in a regular file. */
  async read(path: string, maxBytes: number): Promise<FileContent> {
    const parts = path.split("/");
    const name = parts.pop() ?? "";
    const opened: FileHandle[] = [];
    let at = this.#handle;
    try {
      for (const part of parts) {
        at = await open(`/proc/self/fd/${at.fd}/${part}`, O_PATH | O_DIRECTORY | O_NOFOLLOW);
        opened.push(at);
      }
      // O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
      const file = await open(`/proc/self/fd/${at.fd}/${name}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      opened.push(file);
      return await readAll(file, path, maxBytes);
    } catch (cause) {
      if (isKernelError(cause)) throw cause;
      throw unreadable(path, cause);
    } finally {
      await Promise.all(opened.map((handle) => handle.close()));
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Does not rely on the size reported earlier: the file may grow while it is read. */
async function readAll(file: FileHandle, path: string, maxBytes: number): Promise<FileContent> {
  const facts = await file.stat();
  if (!facts.isFile()) throw refused(path, "is not a file");
  if (facts.size > maxBytes) throw refused(path, `is larger than ${maxBytes} bytes`);
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, size);
    if (bytesRead === 0) break;
    size += bytesRead;
    if (size > maxBytes) throw refused(path, `is larger than ${maxBytes} bytes`);
    chunks.push(buffer.subarray(0, bytesRead));
  }
  return { bytes: Buffer.concat(chunks), isExecutable: (facts.mode & 0o111) !== 0 };
}

const CHUNK_BYTES = 256 * 1024;

function unreadable(path: string, cause: unknown): KernelError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  return refused(path, PROBLEMS.get(code) ?? `cannot be read (${code})`, cause);
}

const PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "does not exist"],
  ["ELOOP", "is a link; name the file itself"],
  ["ENOTDIR", "leads through something that is no directory, or a link"],
]);

function refused(path: string, problem: string, cause?: unknown): KernelError {
  return new KernelError("INVALID_DECLARATION", `\`${path.slice(0, 300)}\` ${problem}`, { cause });
}
