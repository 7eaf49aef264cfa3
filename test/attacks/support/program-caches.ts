import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Where a kernel keeps the homes and scratch directories of its programs: root's home is closed to them. */
function cachePlaces(home: string): string[] {
  const own = join(home, "cache");
  return [own, join("/var/cache/narthex", createHash("sha256").update(own).digest("hex").slice(0, 32))];
}

/** Paths of files of this name in them. */
export async function findInCaches(home: string, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const place of cachePlaces(home)) {
    const paths = await readdir(place, { recursive: true }).catch(() => []);
    found.push(...paths.filter((path) => path.endsWith(`/${name}`)).map((path) => join(place, path)));
  }
  return found;
}

export async function removeCaches(home: string): Promise<void> {
  for (const place of cachePlaces(home)) await rm(place, { recursive: true, force: true, maxRetries: 3 });
}
