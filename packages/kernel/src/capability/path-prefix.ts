import { type JsonValue, MAX_PATH_LEN } from "@narthex/contracts";
import { countCharacters, type JsonReader } from "./json-reader.ts";

const SLASH = 47;

/** A NUL, an empty component, or a `.` or `..` component with either separator. */
const NOT_NORMAL = /\0|\/\/|(?:^|[/\\])\.{1,2}(?:[/\\]|$)/;

/**
 * Whether a path is absolute and contains nothing that a file system would resolve.
 *
 * SECURITY: only normal paths are compared with prefixes; `/src/../etc` begins with `/src` and is not in it.
 */
export function isNormalPath(path: string): boolean {
  return (
    path.charCodeAt(0) === SLASH &&
    (path.length === 1 || path.charCodeAt(path.length - 1) !== SLASH) &&
    path.length <= MAX_PATH_LEN * 2 &&
    !NOT_NORMAL.test(path)
  );
}

/** Whether a normal path is at or below a normal prefix, component by component; `*` and `/` cover every path. */
export function prefixCovers(prefix: string, path: string): boolean {
  if (prefix === "*" || prefix === "/") return true;
  if (!path.startsWith(prefix)) return false;
  return path.length === prefix.length || path.charCodeAt(prefix.length) === SLASH;
}

/** Reads `*` or an absolute path; drops one slash at its end. */
export function readPathPrefix(reader: JsonReader, json: JsonValue, field: string): string | undefined {
  if (json === "*") return json;
  if (typeof json !== "string") return reader.refuse(field, "format", "must be an absolute path or `*`");
  if (json.includes("\0")) return reader.refuse(field, "no_nul", "must not contain a NUL");
  if (!json.startsWith("/")) return reader.refuse(field, "format", "must be an absolute path or `*`");
  if (json.length > MAX_PATH_LEN && countCharacters(json) > MAX_PATH_LEN) {
    return reader.refuse(field, "max_length", `must have at most ${MAX_PATH_LEN} characters`);
  }
  if (!json.isWellFormed()) return reader.refuse(field, "format", "must not contain broken surrogate pairs");
  if (json.includes("//")) return reader.refuse(field, "format", "must not contain an empty component");
  const path = json.length > 1 && json.endsWith("/") ? json.slice(0, -1) : json;
  if (!isNormalPath(path)) return reader.refuse(field, "no_traversal", "must not contain the components `.` or `..`");
  return path;
}
