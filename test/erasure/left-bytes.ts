import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Files below a directory in which one of these byte strings is still found, with the string's name. */
export async function findLeft(
  directory: string,
  needles: Readonly<Record<string, Uint8Array | string>>,
): Promise<string[]> {
  const left: string[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    for (const [name, needle] of Object.entries(needles)) {
      if (bytes.includes(typeof needle === "string" ? needle : Buffer.from(needle))) left.push(`${name} in ${path}`);
    }
  }
  return left;
}
