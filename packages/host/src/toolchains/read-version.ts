import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

const MAX_FILE_BYTES = 32 * 1024;
const MAX_VERSION = 60;

/** Files that state a version, and how. */
const FILES: ReadonlyArray<readonly [name: string, pattern: RegExp]> = [
  ["pyvenv.cfg", /^version(?:_info)?\s*=\s*(\S+)/m],
  ["VERSION", /^(go\S+)/],
  ["release", /^JAVA_VERSION="([^"]+)"/m],
  ["settings.toml", /^default_toolchain\s*=\s*"([^"]+)"/m],
  ["version", /^(\S+)\s*$/m],
  ["package.json", /^\s{0,4}"version":\s*"([^"]+)"/m],
];

/**
 * Reads the version of a prefix from its files.
 *
 * SECURITY: no program of the prefix is run: it would run outside of any sandbox.
 */
export async function readVersion(prefix: string): Promise<string | undefined> {
  const header = await readStart(join(prefix, "include/node/node_version.h"));
  const parts = ["MAJOR", "MINOR", "PATCH"].map(
    (part) => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(header)?.[1],
  );
  if (parts.every((part) => part !== undefined)) return parts.join(".");
  for (const [name, pattern] of FILES) {
    const found = pattern.exec(await readStart(join(prefix, name)))?.[1];
    if (found !== undefined) return found.slice(0, MAX_VERSION);
  }
  const libraries = await readdir(join(prefix, "lib")).catch(() => []);
  const python = libraries.map((name) => /^python(\d+\.\d+)$/.exec(name)?.[1]).find((found) => found !== undefined);
  return (
    python ?? /(?:^|[/@-])v?(\d+\.\d+(?:\.\d+)?[^/]*)(?:\/installation)?$/.exec(prefix)?.[1]?.slice(0, MAX_VERSION)
  );
}

async function readStart(path: string): Promise<string> {
  try {
    // O_NONBLOCK: a pipe in place of the file would otherwise wait for a writer.
    const file = await open(path, O_NONBLOCK);
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_FILE_BYTES), 0, MAX_FILE_BYTES, 0);
      return buffer.toString("latin1", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}

const O_NONBLOCK = 0o4000;
