import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { KernelError } from "@narthex/contracts";
import { lockFile } from "./lock-file.ts";
import type { Transcript, TranscriptEntry } from "./transcript.ts";
import { readTranscriptLines, toTranscriptLine } from "./transcript-lines.ts";

/** A transcript in its own file, which is locked until it is closed. */
export interface TranscriptFile extends Transcript {
  close(): Promise<void>;
}

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Opens a transcript file, and creates it if it does not exist. An entry torn by a crash is dropped: nothing had acted
 * on it. Any other damage is CONTENT_DAMAGED.
 *
 * SECURITY: the file contains what the model was told, so only its owner may read it. It belongs outside of the
 * workspace, where an agent could rewrite its own history.
 */
export async function openTranscriptFile(path: string): Promise<TranscriptFile> {
  const file = await open(path, FLAGS, OWNER_ONLY).catch((cause: unknown) => refuse(path, "cannot be opened", cause));
  let unlock: (() => void) | undefined;
  try {
    await verifyOwn(file, path);
    unlock = await lockFile(path);
    if (unlock === undefined) return refuse(path, "is in use: it takes one run at a time");
    const bytes = await file.readFile();
    const { entries, end } = readTranscriptLines(bytes);
    if (end < bytes.length) await file.truncate(end);
    await file.datasync();
    await syncDirectory(dirname(path));
    return createTranscript(file, entries, end, unlock);
  } catch (fault) {
    await file.close();
    unlock?.();
    throw fault;
  }
}

function createTranscript(
  file: FileHandle,
  entries: TranscriptEntry[],
  end: number,
  unlock: () => void,
): TranscriptFile {
  let size = end;
  let last: Promise<void> = Promise.resolve();

  async function write(entry: TranscriptEntry): Promise<void> {
    const line = toTranscriptLine(entry);
    size += line.length;
    if (size > MAX_BYTES) throw tooLarge();
    await file.appendFile(line);
    await file.datasync();
    entries.push(entry);
  }

  return {
    read: () => last.then(() => [...entries]),
    append(entry) {
      // INVARIANT: after a failed write nothing more is written, because entries after a partial one cannot be read.
      last = last.then(() => write(entry));
      return last;
    },
    async close() {
      await last.catch(() => undefined);
      await file.close();
      unlock();
    },
  };
}

async function verifyOwn(file: FileHandle, path: string): Promise<void> {
  const facts = await file.stat();
  if (!facts.isFile()) refuse(path, "is no file");
  if (facts.uid !== process.getuid?.()) refuse(path, "belongs to another user");
  if ((facts.mode & OTHERS) !== 0) refuse(path, "is open to other users: run `chmod 600` on it");
  if (facts.size > MAX_BYTES) throw tooLarge();
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function refuse(path: string, problem: string, cause?: unknown): never {
  throw new KernelError("INVALID_INPUT", `the transcript \`${path.slice(0, 300)}\` ${problem}`, { cause });
}

function tooLarge(): KernelError {
  return new KernelError("RESOURCE_EXCEEDED", `a transcript holds at most ${MAX_BYTES} bytes: begin a new one`);
}
