import type { JsonObject } from "@narthex/contracts";
import { HookProblem } from "./hook-call.ts";
import { findText } from "./hook-fields.ts";

/** Fields in which clients name the file or directory that a tool works on. */
const PATH_NAMES = ["file_path", "path", "target_file", "notebook_path", "target_directory"] as const;
/** Field names that may hold a path elsewhere, including lists of paths. */
const PATH_LIKE =
  /(?:path|paths|uri|uris)$|^(?:files?|directory|directories|dirs?|folders?|root|roots|cwd)$|_(?:file|directory|dir|folder)s?$/i;

/**
 * Returns every path that an input names. SECURITY: it is unknown which one a client uses, so all of them are decided
 * on. A client may trim spaces around a path and normalize its characters, so that it leads to another file.
 */
export function namedPaths(input: JsonObject): readonly string[] {
  const given = PATH_NAMES.flatMap((name) => findText(input, name) ?? []);
  return [...new Set(given.flatMap((path) => [path, path.trim(), path.trim().normalize("NFC")]))];
}

/** Throws if an input names no path. */
export function requirePaths(input: JsonObject): readonly string[] {
  const paths = namedPaths(input);
  if (paths.length === 0) throw new HookProblem(`\`${PATH_NAMES[0]}\` is missing`);
  return paths;
}

/** Returns a field that seems to hold a path under a name that no known tool uses; undefined if none exists. */
export function unknownPathField(input: JsonObject): string | undefined {
  const known: readonly string[] = PATH_NAMES;
  return Object.keys(input).find((name) => PATH_LIKE.test(name) && !known.includes(name));
}
