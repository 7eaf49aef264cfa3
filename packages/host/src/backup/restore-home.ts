import { randomUUID } from "node:crypto";
import { chmod, readdir, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { KernelError } from "@narthex/contracts";
import { homePaths } from "../home/home-paths.ts";
import { markRestored } from "../store/mark-restored.ts";
import { makeDirectories } from "../system/make-directories.ts";
import { tryToRemoveOwnTree } from "../system/remove-own-tree.ts";
import { requireSafeParents } from "../system/safe-parents.ts";
import { syncDirectory } from "../system/sync-directory.ts";
import { systemErrorCode } from "../system/system-error.ts";
import type { BackupParts } from "./back-up-home.ts";
import { type BackupManifest, MANIFEST, readManifest } from "./backup-manifest.ts";
import { copyTree } from "./copy-tree.ts";

export interface RestoreOptions {
  readonly backup: string;
  readonly home: string;
  readonly verify: BackupParts["verify"];
}

const OWN: ReadonlySet<string> = new Set([MANIFEST]);

/**
 * Restores a home from a backup: copies it into a directory beside the target, verifies that its ledger matches the
 * manifest of the backup, then moves it into place atomically. Never overwrites existing files.
 */
export async function restoreHome({ backup, home, verify }: RestoreOptions): Promise<BackupManifest> {
  const [from, target] = [resolve(backup), resolve(home)];
  const manifest = await readManifest(from);
  await requireEmpty(target);
  await makeDirectories(dirname(target), 0o777);
  await requireSafeParents(target);
  const draft = `${target}.${randomUUID()}.partial`;
  try {
    await copyTree(from, draft, OWN);
    await chmod(draft, 0o700);
    const paths = homePaths(draft);
    const { records, headHash } = await verify(paths);
    if (records !== manifest.records || headHash !== manifest.headHash) {
      throw new KernelError("BACKUP_INVALID", "the backup does not hold the records that its `backup.json` says");
    }
    markRestored(join(paths.store, "records.db"), manifest.takenAtMs);
    await syncDirectory(paths.store);
    await rename(draft, target);
    await syncDirectory(dirname(target));
    return manifest;
  } catch (fault) {
    tryToRemoveOwnTree(draft);
    throw fault;
  }
}

async function requireEmpty(target: string): Promise<void> {
  const found = await readdir(target).catch((fault: unknown) => {
    if (systemErrorCode(fault) === "ENOENT") return [];
    throw fault;
  });
  if (found.length === 0) return;
  const message = `\`${target.slice(0, 300)}\` is not empty: name a home that is not there yet with --data DIR`;
  throw new KernelError("INVALID_INPUT", message);
}
