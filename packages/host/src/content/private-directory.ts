import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { KernelError } from "@narthex/contracts";
import { storeUnavailable, systemErrorCode } from "./system-error.ts";

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const OTHERS = 0o077;

/**
 * Makes a directory that is its owner's alone, durably; one that is there already must be like that.
 *
 * SECURITY: a link in the directory's place would have files written, or cleaned up, somewhere else.
 */
export async function openPrivateDirectory(path: string): Promise<void> {
  const created = await mkdir(path, { recursive: true, mode: 0o700 }).catch((cause: unknown) => refuse(path, cause));
  if (created !== undefined) await syncDirectory(dirname(created)).catch((cause: unknown) => refuse(path, cause));
  const directory = await open(path, DIRECTORY_FLAGS).catch((cause: unknown) => refuse(path, cause));
  try {
    const { mode, uid } = await directory.stat();
    if (uid !== process.getuid?.()) throw unsafe(path, "belongs to another user");
    if ((mode & OTHERS) !== 0) throw unsafe(path, "is open to other users: run `chmod 700` on it");
    await directory.sync().catch((cause: unknown) => refuse(path, cause));
  } finally {
    await directory.close();
  }
}

/** Makes names that were added to a directory, or removed from it, durable. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function refuse(path: string, cause: unknown): never {
  const isElse = ["EEXIST", "ENOTDIR", "ELOOP"].includes(systemErrorCode(cause) ?? "");
  if (isElse) throw unsafe(path, "is not a directory, or only a link to one", cause);
  throw storeUnavailable(`\`${path.slice(0, 300)}\` cannot be opened`, cause);
}

function unsafe(path: string, problem: string, cause?: unknown): KernelError {
  return new KernelError("HOME_UNSAFE", `\`${path.slice(0, 300)}\` ${problem}`, { cause });
}
