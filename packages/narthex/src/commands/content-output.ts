import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { createBlake3, equalBytes } from "@narthex/contracts";
import type { ContentStream } from "../connection/kernel-connection.ts";
import { CommandError } from "../terminal/command-error.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visibleLines } from "../terminal/visible.ts";
import { decodeText } from "./decode-text.ts";

/** Maximum size of content shown on a terminal; larger content needs a file or a pipe. */
const MAX_SHOWN_BYTES = 1024 * 1024;

/** Writes a file atomically, replacing an existing one. */
export async function saveContent(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  expectedHash: Uint8Array | undefined,
): Promise<{ readonly path: string; readonly bytes: number }> {
  const target = resolve(path);
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}.part`);
  const file = await open(temporary, "wx", 0o600).catch((cause: unknown) => {
    throw new CommandError("INVALID_INPUT", `the file \`${path}\` cannot be written`, {
      cause,
      next: "name a file in a directory you can write to",
    });
  });
  try {
    let bytes = 0;
    for await (const chunk of checkHash(chunks, expectedHash)) {
      await file.write(chunk);
      bytes += chunk.length;
    }
    await file.close();
    await rename(temporary, target);
    return { path: target, bytes };
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Writes raw bytes to a pipe; on a terminal only text, with control characters made visible. */
export async function showContent(
  content: ContentStream,
  terminal: Terminal,
  expectedHash: Uint8Array | undefined,
): Promise<void> {
  const chunks = checkHash(content.chunks, expectedHash);
  if (!terminal.outputIsTerminal) {
    for await (const chunk of chunks) await terminal.writeBytes(chunk);
    return;
  }
  const text = decodeText(await collect(chunks, MAX_SHOWN_BYTES));
  if (text === undefined) {
    throw new CommandError("NOT_TEXT", `the content is not text (${content.size} bytes)`, {
      next: "write it to a file with --out FILE",
    });
  }
  terminal.print(visibleLines(text).replace(/\n$/, ""));
}

/** Collects all bytes; throws if there are more than `maxBytes`. */
export async function collect(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new CommandError("RESOURCE_EXCEEDED", `the content is larger than ${maxBytes} bytes`, {
        next: "write it to a file with --out FILE",
      });
    }
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

/** SECURITY: content is named by its hash, so nothing between the store and the reader can change it unnoticed. */
export async function* checkHash(
  chunks: AsyncIterable<Uint8Array>,
  expectedHash: Uint8Array | undefined,
): AsyncGenerator<Uint8Array> {
  const hasher = createBlake3();
  for await (const chunk of chunks) {
    hasher.update(chunk);
    yield chunk;
  }
  if (expectedHash !== undefined && !equalBytes(hasher.digest(), expectedHash)) {
    throw new CommandError("CONTENT_DAMAGED", "the bytes received do not have the hash they were asked by");
  }
}
