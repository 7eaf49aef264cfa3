import { type Dirent, opendirSync } from "node:fs";
import { statEntry } from "./workspace.ts";

export interface ScannedEntry {
  readonly name: string;
  /** False if the name is not UTF-8: it contains replacement characters then, and cannot be used as a path. */
  readonly isExact: boolean;
  readonly kind: "file" | "directory" | "link" | "other";
  /** Bytes of the name, one per character. Entries are sorted by this. */
  readonly bytes: string;
}

export interface ScannedDirectory {
  readonly entries: readonly ScannedEntry[];
  /** Whether there were more entries than the limit. */
  readonly isPartial: boolean;
}

const READ_AT_ONCE = 512;

/** Returns the entries of an open directory, sorted by the bytes of their names. */
export function scanDirectory(directory: number, maxEntries: number): ScannedDirectory {
  const entries: ScannedEntry[] = [];
  const opened = opendirSync(`/proc/self/fd/${directory}`, { encoding: "latin1", bufferSize: READ_AT_ONCE });
  let isPartial = false;
  try {
    for (let found = opened.readSync(); found !== null; found = opened.readSync()) {
      if (entries.length >= maxEntries) {
        isPartial = true;
        break;
      }
      entries.push(entryOf(directory, found));
    }
  } finally {
    opened.closeSync();
  }
  entries.sort((left, right) => (left.bytes < right.bytes ? -1 : 1));
  return { entries, isPartial };
}

function entryOf(directory: number, found: Dirent): ScannedEntry {
  const raw = Buffer.from(found.name, "latin1");
  const name = raw.toString("utf8");
  const isExact = Buffer.from(name).equals(raw);
  return { name, isExact, kind: kindOf(directory, found, name, isExact), bytes: found.name };
}

function kindOf(directory: number, found: Dirent, name: string, isExact: boolean): ScannedEntry["kind"] {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "directory";
  if (found.isSymbolicLink()) return "link";
  if (found.isFIFO() || found.isSocket() || found.isCharacterDevice() || found.isBlockDevice() || !isExact)
    return "other";
  // Some file systems do not report the type of an entry.
  const stats = statEntry(directory, name);
  if (stats?.isFile() === true) return "file";
  if (stats?.isDirectory() === true) return "directory";
  return stats?.isSymbolicLink() === true ? "link" : "other";
}
