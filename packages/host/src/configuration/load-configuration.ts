import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { isKernelError, KernelError } from "@narthex/contracts";
import { type Configuration, DEFAULT_CONFIGURATION } from "./configuration.ts";
import { quote } from "./configuration-problems.ts";
import { DEFAULT_CONFIGURATION_TEXT } from "./default-configuration-text.ts";
import { parseConfiguration } from "./parse-configuration.ts";

export const MAX_CONFIGURATION_BYTES = 1024 * 1024;
const MAX_PATH = 300;

/**
 * Reads a `narthex.yaml`; returns the defaults if the file does not exist. Throws CONFIG_INVALID with every problem.
 */
export async function loadConfiguration(path: string): Promise<Configuration> {
  const bytes = await readConfigurationFile(path);
  if (bytes === undefined) return DEFAULT_CONFIGURATION;
  const text = decodeText(bytes, path);
  // Skips parsing for the unchanged file that `init` wrote, which contains only defaults.
  return text === DEFAULT_CONFIGURATION_TEXT ? DEFAULT_CONFIGURATION : parseConfiguration(text, path);
}

async function readConfigurationFile(path: string): Promise<Uint8Array | undefined> {
  let file: FileHandle | undefined;
  try {
    // O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) throw invalid(path, "is not a file");
    return await readAtMost(file, path);
  } catch (cause) {
    if (isKernelError(cause)) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    if (code !== "ENOENT") throw invalid(path, `cannot be read (${code})`, cause);
    // A dangling link is a mistake that the defaults would hide.
    if (await lstat(path).catch(() => undefined)) throw invalid(path, "is a link to a file that does not exist", cause);
    return undefined;
  } finally {
    await file?.close();
  }
}

/** Does not rely on the size reported earlier: the file may grow while it is read. */
async function readAtMost(file: FileHandle, path: string): Promise<Uint8Array> {
  const buffer = Buffer.alloc(MAX_CONFIGURATION_BYTES + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
  throw invalid(path, "is larger than 1 MB");
}

function decodeText(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid(path, "is not UTF-8 text", cause);
  }
}

function invalid(path: string, problem: string, cause?: unknown): KernelError {
  return new KernelError("CONFIG_INVALID", `${quote(path, MAX_PATH)} ${problem}`, { cause });
}
