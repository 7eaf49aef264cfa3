import { randomUUID } from "node:crypto";
import { lstat, rename } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { isKernelError, KernelError } from "@narthex/contracts";
import type { HomeCopy, HomeCopyOptions } from "@narthex/kernel";
import { type HomePaths, homePaths } from "../home/home-paths.ts";
import { makeDirectories } from "../system/make-directories.ts";
import { tryToRemoveOwnTree } from "../system/remove-own-tree.ts";
import { requireSafeParents } from "../system/safe-parents.ts";
import { syncDirectory } from "../system/sync-directory.ts";
import { pathUnusable, systemErrorCode } from "../system/system-error.ts";
import { writeManifest } from "./backup-manifest.ts";
import { copyDurably, copyTree } from "./copy-tree.ts";

export interface BackupParts {
  readonly paths: HomePaths;
  readonly version: string;
  nowMs(): number;
  /** Copies records and state as a consistent snapshot. */
  copyRecords(target: string): Promise<void>;
  /** Verifies the ledger of a home on its own. Throws BACKUP_INVALID with the first problem. */
  verify(paths: HomePaths): Promise<{ readonly records: number; readonly headHash: string }>;
}

const TEMPORARY: ReadonlySet<string> = new Set(["tmp"]);

/**
 * Copies a home that is in use into a new directory, and verifies that the copy is a complete ledger on its own. The
 * copy gets its final name only when it is complete and durable.
 *
 * INVARIANT: records first, then content files: content is stored before a record refers to it, and the caller must
 * make sure that nothing is erased during the copy.
 */
export async function backUpHome({ directory, withKeys }: HomeCopyOptions, parts: BackupParts): Promise<HomeCopy> {
  const target = resolve(directory);
  try {
    await checkTarget(target, parts.paths);
    await makeDirectories(dirname(target), 0o700);
    await requireSafeParents(target);
  } catch (fault) {
    throw pathUnusable(`a backup cannot be written to \`${target.slice(0, 300)}\``, fault);
  }
  const draft = `${target}.${randomUUID()}.partial`;
  const [from, to] = [parts.paths, homePaths(draft)];
  try {
    await makeDirectories(to.store, 0o700);
    const takenAtMs = parts.nowMs();
    await parts.copyRecords(join(to.store, "records.db"));
    const content = await copyTree(from.content, to.content, TEMPORARY);
    for (const name of ["policy", "tools", "log"]) await copyTree(join(from.home, name), join(draft, name), TEMPORARY);
    if (withKeys) await copyTree(from.keys, to.keys);
    await copyDurably(from.configuration, to.configuration);
    const { records, headHash } = await parts.verify(to);
    await writeManifest(draft, { takenAtMs, version: parts.version, records, headHash, hasKeys: withKeys });
    await syncDirectory(to.store);
    await syncDirectory(draft);
    await rename(draft, target);
    await syncDirectory(dirname(target));
    return { directory: target, records, headHash, files: content.files, bytes: content.bytes };
  } catch (fault) {
    tryToRemoveOwnTree(draft);
    if (isKernelError(fault) || systemErrorCode(fault) === undefined) throw fault;
    throw pathUnusable(`the backup \`${target.slice(0, 300)}\` cannot be written`, fault);
  }
}

async function checkTarget(target: string, { home }: HomePaths): Promise<void> {
  const refuse = (message: string): never => {
    throw new KernelError("INVALID_INPUT", message, { violations: [{ field: "directory", rule: "format", message }] });
  };
  if (`${target}${sep}`.startsWith(`${home}${sep}`)) refuse("a backup lies outside the home that it is of");
  const found = await lstat(target).catch((fault: unknown) => {
    if (systemErrorCode(fault) === "ENOENT") return undefined;
    throw fault;
  });
  if (found !== undefined) refuse(`\`${target.slice(0, 300)}\` is there already: name a directory that is not`);
}
