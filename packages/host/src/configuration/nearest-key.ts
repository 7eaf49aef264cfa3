import { isSection, type SectionSchema } from "./configuration-schema.ts";

/** Only the first characters of longer keys are compared. */
const MAX_COMPARED = 64;

/**
 * Returns the path of the known key that was most likely meant: a key of the same name in any section, else the key of
 * this section with the smallest edit distance.
 */
export function nearestKey(key: string, section: SectionSchema, path: string, root: SectionSchema): string {
  const wanted = normalizeKey(key);
  const elsewhere = listPaths(root, "").find(
    (known) => normalizeKey(known.slice(known.lastIndexOf(".") + 1)) === wanted,
  );
  const own = Object.keys(section.properties).map((name) => ({
    name,
    distance: editDistance(wanted, normalizeKey(name)),
  }));
  const nearest = own.reduce((best, each) => (each.distance < best.distance ? each : best), {
    name: "",
    distance: Number.POSITIVE_INFINITY,
  });
  if (nearest.distance > 0 && elsewhere !== undefined) return elsewhere;
  return joinPath(path, nearest.name);
}

export function joinPath(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/** Treats `ttlMs`, `ttl-ms` and `TTL_MS` as the same word. */
function normalizeKey(key: string): string {
  return key.slice(0, MAX_COMPARED).toLowerCase().replaceAll(/[-_ ]/g, "");
}

function listPaths(section: SectionSchema, path: string): string[] {
  return Object.entries(section.properties).flatMap(([key, schema]) => {
    const own = joinPath(path, key);
    return isSection(schema) ? [own, ...listPaths(schema, own)] : [own];
  });
}

/** Number of insertions, deletions and replacements between two words. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
