import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson, isJsonObject, KernelError, parseJson } from "@narthex/contracts";

/** Describes the contents of a backup. */
export interface BackupManifest {
  readonly takenAtMs: number;
  readonly version: string;
  readonly records: number;
  /** Hash of the last record, in hex; empty if there are no records. */
  readonly headHash: string;
  /** Whether the backup contains the private keys. */
  readonly hasKeys: boolean;
}

/** Written last: a directory without this file is not a complete backup. */
export const MANIFEST = "backup.json";
const FORMAT = 1;

export async function writeManifest(directory: string, manifest: BackupManifest): Promise<void> {
  const { takenAtMs, version, records, headHash, hasKeys } = manifest;
  const text = canonicalJson({
    format: FORMAT,
    taken_at_ms: takenAtMs,
    version,
    records,
    head_hash: headHash,
    has_keys: hasKeys,
  });
  await writeFile(join(directory, MANIFEST), `${text}\n`, { flag: "wx", mode: 0o600, flush: true });
}

export async function readManifest(directory: string): Promise<BackupManifest> {
  const bytes = await readFile(join(directory, MANIFEST)).catch((cause: unknown) => {
    throw invalidBackup(directory, "it has no `backup.json`", cause);
  });
  const value = parse(bytes);
  if (!isJsonObject(value ?? null)) throw invalidBackup(directory, "its `backup.json` cannot be read");
  const fields = value as Record<string, unknown>;
  if (fields["format"] !== FORMAT) throw invalidBackup(directory, "its format is not known to this narthex");
  const { taken_at_ms: takenAtMs, version, records, head_hash: headHash, has_keys: hasKeys } = fields;
  if (typeof takenAtMs !== "number" || typeof records !== "number" || typeof headHash !== "string") {
    throw invalidBackup(directory, "its `backup.json` cannot be read");
  }
  return { takenAtMs, version: String(version), records, headHash, hasKeys: hasKeys === true };
}

function parse(bytes: Uint8Array): ReturnType<typeof parseJson> | undefined {
  try {
    return parseJson(bytes);
  } catch {
    return undefined;
  }
}

function invalidBackup(directory: string, why: string, cause?: unknown): KernelError {
  return new KernelError("BACKUP_INVALID", `\`${directory.slice(0, 300)}\` is no backup: ${why}`, { cause });
}
