import { randomUUID } from "node:crypto";
import { type FileHandle, open, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { GENERATED_MARK } from "@narthex/agent/generate";
import { usageError } from "../terminal/command-error.ts";

/**
 * Reads a generated module; returns undefined if none exists. Throws if the file was not generated, so that
 * hand-written files are never overwritten.
 */
export async function readGenerated(path: string): Promise<string | undefined> {
  const text = await readExisting(path);
  if (text === undefined || text.startsWith(GENERATED_MARK)) return text;
  throw usageError(`\`${path}\` is there and was not generated`, "choose another name with --out");
}

/** Writes a file atomically, keeping the mode of the file it replaces. */
export async function writeGenerated(path: string, text: string): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  try {
    const before = await stat(path).catch(() => undefined);
    const file = await open(draft, "wx", 0o644);
    try {
      await fill(file, text, before?.mode);
      await rename(draft, path);
    } catch (fault) {
      await rm(draft, { force: true });
      throw fault;
    }
  } catch (fault) {
    if (!(fault instanceof Error)) throw fault;
    throw usageError(`\`${path}\` cannot be written: ${fault.message}`, "choose another name with --out");
  }
}

async function fill(file: FileHandle, text: string, mode: number | undefined): Promise<void> {
  try {
    await file.writeFile(text);
    if (mode !== undefined) await file.chmod(mode & 0o7777);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readExisting(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return undefined;
    throw fault;
  }
}
