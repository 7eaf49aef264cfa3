import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory } from "../system/sync-directory.ts";

/** Summary of a copy. */
export interface CopiedTree {
  readonly files: number;
  readonly bytes: number;
}

const NOTHING: CopiedTree = { files: 0, bytes: 0 };

/**
 * Copies a directory of files durably, if it exists. Skips names in `leaveOut`, at the top level only.
 *
 * SECURITY: links and everything else that is neither a file nor a directory are skipped too: a copy must hold bytes,
 * not references.
 */
export async function copyTree(from: string, to: string, leaveOut: ReadonlySet<string> = NONE): Promise<CopiedTree> {
  const entries = await readdir(from, { withFileTypes: true }).catch((fault: unknown) => {
    if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return undefined;
    throw fault;
  });
  if (entries === undefined) return NOTHING;
  await mkdir(to, { mode: 0o700, recursive: true });
  let { files, bytes } = NOTHING;
  for (const entry of entries) {
    if (leaveOut.has(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      const below = await copyTree(source, target);
      files += below.files;
      bytes += below.bytes;
    } else if (entry.isFile()) {
      files++;
      bytes += await copyDurably(source, target);
    }
  }
  await syncDirectory(to);
  return { files, bytes };
}

const NONE: ReadonlySet<string> = new Set();

/** Copies one file durably and returns its size. */
export async function copyDurably(source: string, target: string): Promise<number> {
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const copy = await open(target, "r+");
  try {
    await copy.chmod(0o600);
    await copy.sync();
    return (await copy.stat()).size;
  } finally {
    await copy.close();
  }
}
