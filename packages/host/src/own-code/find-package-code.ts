import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The files that Node would load for a package. */
export interface PackageCode {
  /** Real paths of its directory and of the directories of all packages that it depends on. */
  readonly directories: readonly string[];
  /** Paths that Node searches earlier and where nothing exists: a package created there would be loaded instead. */
  readonly vacant: readonly string[];
}

const MAX_PACKAGES = 2000;
const MAX_NAMES = 1000;
const MAX_MANIFEST_BYTES = 1024 * 1024;

/**
 * Follows the dependencies of a package as Node resolves them: in its own `node_modules`, or in that of a parent
 * directory. Links are resolved, so it makes no difference whether npm hoisted a package, pnpm linked it, or it belongs
 * to the same repository.
 */
export async function findPackageCode(directory: string): Promise<PackageCode> {
  const directories = new Set<string>();
  const vacant = new Set<string>();
  const open = [directory];
  for (let next = open.pop(); next !== undefined && directories.size < MAX_PACKAGES; next = open.pop()) {
    const real = await realpath(next).catch(() => undefined);
    if (real === undefined || directories.has(real)) continue;
    directories.add(real);
    for (const name of await dependenciesOf(real)) {
      for (const place of placesOf(name, real)) {
        const found = await realpath(place).catch(() => undefined);
        if (found === undefined) vacant.add(place);
        else open.push(found);
        if (found !== undefined) break;
      }
    }
  }
  return { directories: [...directories], vacant: [...vacant] };
}

/** Candidate paths in the order of Node's resolution, which includes `node_modules` inside a scope directory. */
function placesOf(name: string, from: string): string[] {
  const places: string[] = [];
  for (let at = from; ; at = dirname(at)) {
    if (basename(at) !== "node_modules") places.push(join(at, "node_modules", name));
    if (dirname(at) === at) return places;
  }
}

/** SECURITY: a manifest in a workspace may be written by an agent, so its size is limited. */
async function dependenciesOf(directory: string): Promise<string[]> {
  const path = join(directory, "package.json");
  try {
    const facts = await stat(path);
    if (!facts.isFile() || facts.size > MAX_MANIFEST_BYTES) return [];
    const text = await readFile(path, "utf8");
    const manifest: unknown = JSON.parse(text);
    const fields = ["dependencies", "optionalDependencies", "peerDependencies"];
    return fields.flatMap((field) => namesIn(manifest, field)).slice(0, MAX_NAMES);
  } catch {
    return [];
  }
}

function namesIn(manifest: unknown, field: string): string[] {
  if (typeof manifest !== "object" || manifest === null) return [];
  const listed: unknown = Object.entries(manifest).find(([name]) => name === field)?.[1];
  return typeof listed === "object" && listed !== null ? Object.keys(listed) : [];
}
