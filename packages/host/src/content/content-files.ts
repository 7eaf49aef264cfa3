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
 * Content-addressed files, `ab/ab12…`, with `tmp/` for files that are being written.
 *
 * INVARIANT: only one process opens the directory at a time, which the home's lock ensures, because opening removes
 * unfinished files.
 * SECURITY: names are derived from 32 bytes and nothing else, so no caller can choose a path.
 */
export async function openContentFiles(directory: string): Promise<ContentStore> {
  const temporary = join(directory, TEMPORARY);
  await openPrivateDirectory(directory);
  await openPrivateDirectory(temporary);
  await refuseLinks(directory);
  await removeFiles(temporary);

  /** Folders by path. A promise resolves once the folder and its name are durable. */
  const folders = new Map<string, Promise<void>>();
  let failure: KernelError | undefined;

  function requireWorking(): void {
    if (failure !== undefined) throw failure;
  }

  /**
   * After a failed fsync the state of the disk is unknown, and a second fsync may wrongly report success. So all
   * writing stops here.
   */
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
          // Replaces a file with the same or with damaged content; readers of the old file are not affected.
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

/** SECURITY: O_NOFOLLOW protects only the file itself; a link among its parent directories would lead outside. */
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
