import type { JsonObject } from "@narthex/contracts";
import { HookProblem } from "./hook-call.ts";
import { findText } from "./hook-fields.ts";

/** Names under which clients tell of the file or directory that a tool works on. */
const PATH_NAMES = ["file_path", "path", "target_file", "notebook_path", "target_directory"] as const;
/** Names that a path has elsewhere, also several at once. */
const PATH_LIKE =
  /(?:path|paths|uri|uris)$|^(?:files?|directory|directories|dirs?|folders?|root|roots|cwd)$|_(?:file|directory|dir|folder)s?$/i;

/**
 * Every path that an input names. SECURITY: which one a client goes by is its own matter, so all of them are decided on. A
 * client may take off spaces around a path and compose its characters, so that it leads to another file.
 */
export function namedPaths(input: JsonObject): readonly string[] {
  const given = PATH_NAMES.flatMap((name) => findText(input, name) ?? []);
  return [...new Set(given.flatMap((path) => [path, path.trim(), path.trim().normalize("NFC")]))];
}

/** Throws where an input names no path. */
export function requirePaths(input: JsonObject): readonly string[] {
  const paths = namedPaths(input);
  if (paths.length === 0) throw new HookProblem(`\`${PATH_NAMES[0]}\` is missing`);
  return paths;
}

/** A field that seems to hold a path, under a name that no tool known here uses; undefined where no field does. */
export function unknownPathField(input: JsonObject): string | undefined {
  const known: readonly string[] = PATH_NAMES;
  return Object.keys(input).find((name) => PATH_LIKE.test(name) && !known.includes(name));
}
