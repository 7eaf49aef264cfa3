import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, opendir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { HASH_SIZE, KernelError, toHex } from "@narthex/contracts";
import type { ContentStore } from "@narthex/kernel";
import { openPrivateDirectory } from "../system/private-directory.ts";
import { syncDirectory } from "../system/sync-directory.ts";
import { storeUnavailable, systemErrorCode } from "../system/system-error.ts";
import { createContentFileWriter } from "./content-file-writer.ts";
import { damaged, readContentFile } from "./read-content-file.ts";

const TEMPORARY = "tmp";
const TEMPORARY_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Content in files named by their hash, `ab/ab12…`, with `tmp/` for those being written.
 *
 * INVARIANT: one opener at a time, which the home's lock sees to: opening removes what unfinished writers left.
 * SECURITY: names are made from 32 bytes and nothing else, so no caller can name a path.
 */
export async function openContentFiles(directory: string): Promise<ContentStore> {
  const temporary = join(directory, TEMPORARY);
  await openPrivateDirectory(directory);
  await openPrivateDirectory(temporary);
  await refuseLinks(directory);
  await removeFiles(temporary);

  /** Resolved once the directory and its name are durable. */
  const folders = new Map<string, Promise<void>>();
  let failure: KernelError | undefined;

  function requireWorking(): void {
    if (failure !== undefined) throw failure;
  }

  /** After a failed fsync nobody knows what is on the disk, and asking again is answered wrongly: writing ends here. */
  async function durably(sync: () => Promise<void>): Promise<void> {
    requireWorking();
    try {
      await sync();
    } catch (cause) {
      failure ??= storeUnavailable("content could not be made durable; start the kernel again", cause);
      throw failure;
    }
  }

  async function makeFolder(path: string): Promise<void> {
    await mkdir(path, { mode: 0o700 }).catch((cause: unknown) => {
      if (systemErrorCode(cause) !== "EEXIST") throw cause;
    });
    await durably(() => syncDirectory(directory));
  }

  function ensureFolder(path: string): Promise<void> {
    const known = folders.get(path);
    if (known !== undefined) return known;
    const made = makeFolder(path);
    folders.set(path, made);
    made.catch(() => folders.delete(path));
    return made;
  }

  function place(digest: Uint8Array): { readonly folder: string; readonly path: string } | undefined {
    if (!(digest instanceof Uint8Array) || digest.length !== HASH_SIZE) return undefined;
    const name = toHex(digest);
    const folder = join(directory, name.slice(0, 2));
    return { folder, path: join(folder, name) };
  }

  return {
    async openWriter() {
      requireWorking();
      const path = join(temporary, randomBytes(16).toString("hex"));
      const handle = await open(path, TEMPORARY_FLAGS, 0o600).catch((cause: unknown) => {
        throw storeUnavailable("content cannot be written", cause);
      });
      return createContentFileWriter({
        handle,
        path,
        async publish(digest) {
          const target = place(digest);
          if (target === undefined) throw new KernelError("INTERNAL", "a digest has 32 bytes");
          await durably(() => handle.sync());
          await ensureFolder(target.folder);
          // Replaces equal bytes, or damaged ones by sound ones; a reader of the old file keeps it.
          await rename(path, target.path);
          await durably(() => syncDirectory(target.folder));
        },
      });
    },

    async stat(digest) {
      const found = place(digest);
      if (found === undefined) return undefined;
      try {
        const facts = await lstat(found.path);
        if (!facts.isFile()) throw damaged("is not a file");
        return { size: facts.size };
      } catch (cause) {
        if (systemErrorCode(cause) === "ENOENT") return undefined;
        throw storeUnavailable("content cannot be read", cause);
      }
    },

    read: (digest, offset, limit) =>
      readContentFile({ path: place(digest)?.path, digest: digest.slice(), offset, limit }),

    async remove(digest) {
      requireWorking();
      const found = place(digest);
      if (found === undefined) return;
      try {
        await unlink(found.path);
        await durably(() => syncDirectory(found.folder));
      } catch (cause) {
        if (systemErrorCode(cause) !== "ENOENT") throw storeUnavailable("content cannot be removed", cause);
      }
    },
  };
}

/** SECURITY: opening a file does not follow a link, but a link among the folders above it would lead outside. */
async function refuseLinks(directory: string): Promise<void> {
  for await (const entry of await opendir(directory)) {
    if (/^[0-9a-f]{2}$/.test(entry.name) && !entry.isDirectory()) {
      throw new KernelError("HOME_UNSAFE", `\`${join(directory, entry.name).slice(0, 300)}\` is not a directory`);
    }
  }
}

async function removeFiles(directory: string): Promise<void> {
  try {
    for await (const entry of await opendir(directory)) await unlink(join(directory, entry.name));
  } catch (cause) {
    throw storeUnavailable(`\`${directory.slice(0, 300)}\` cannot be cleared`, cause);
  }
}
