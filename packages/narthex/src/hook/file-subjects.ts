import type { JsonObject } from "@narthex/contracts";
import { globPlaces } from "./glob-places.ts";
import { HookProblem, type HookSubject, type SubjectCall } from "./hook-call.ts";
import { findText, requireObject, requireText } from "./hook-fields.ts";
import { namedPaths, requirePaths, unknownPathField } from "./named-paths.ts";

/** Maximum number of edits; each one needs a decision of the kernel. */
const MAX_EDITS = 50;

export function command(input: JsonObject): HookSubject {
  return calls({ tool: "shell_exec", input: { command: requireText(input, "command") } });
}

export function readFile(input: JsonObject): HookSubject {
  return onPaths(input, requirePaths(input), (path) => [{ tool: "file_read", input: {}, path }]);
}

export function writeFile(input: JsonObject): HookSubject {
  const content = findText(input, "content", "contents", "new_source") ?? "";
  return onPaths(input, requirePaths(input), (path) => [{ tool: "file_write", input: { content }, path }]);
}

export function deleteFile(input: JsonObject): HookSubject {
  return onPaths(input, requirePaths(input), (path) => [{ tool: "file_delete", input: {}, path }]);
}

/** Handles one replacement, or a list of them. */
export function editFile(input: JsonObject): HookSubject {
  const paths = requirePaths(input);
  const { edits } = input;
  if (edits === undefined) return onPaths(input, paths, (path) => [edit(path, input)]);
  if (!Array.isArray(edits) || edits.length === 0) throw new HookProblem("`edits` is no list of edits");
  if (edits.length > MAX_EDITS) return { kind: "unknown", why: `it makes more than ${MAX_EDITS} edits at once` };
  const several = edits.map((one) => requireObject(one, "edits"));
  // SECURITY: an edit may name a different file.
  if (
    several.some((one) => namedPaths(one).some((path) => !paths.includes(path)) || unknownPathField(one) !== undefined)
  ) {
    return { kind: "unknown", why: "its edits name files of their own" };
  }
  return onPaths(input, paths, (path) => several.map((one) => edit(path, one)));
}

export function search(input: JsonObject): HookSubject {
  const pattern = requireText(input, "pattern");
  return onPaths(input, pathsOrHere(input), (path) => [{ tool: "file_search", input: { pattern }, path }]);
}

export function listFiles(input: JsonObject): HookSubject {
  const patterns = ["pattern", "glob_pattern"].flatMap((name) => findText(input, name) ?? []);
  const places = new Set<string>();
  for (const pattern of patterns.length > 0 ? patterns : ["*"]) {
    const starts = globPlaces(pattern);
    if (starts === undefined) return { kind: "unknown", why: "its pattern has too many alternatives" };
    for (const start of starts) for (const path of pathsOrHere(input)) places.add(below(path, start));
  }
  return onPaths(input, [...places], (path) => [{ tool: "file_list", input: { recursive: true }, path }]);
}

export function fetchPage(input: JsonObject): HookSubject {
  return calls({ tool: "web_fetch", input: { url: requireText(input, "url") } });
}

export function searchWeb(input: JsonObject): HookSubject {
  return calls({ tool: "web_search", input: { query: requireText(input, "query", "search_term") } });
}

function pathsOrHere(input: JsonObject): readonly string[] {
  const paths = namedPaths(input);
  return paths.length > 0 ? paths : ["."];
}

/** Joins a search directory and the fixed start of a pattern. */
function below(directory: string, start: string): string {
  if (start === "") return directory;
  if (/^[~/]/.test(start) || directory === ".") return start;
  return `${directory}/${start}`;
}

/** Creates the calls for each of the paths. */
function onPaths(
  input: JsonObject,
  paths: readonly string[],
  callsOn: (path: string) => readonly SubjectCall[],
): HookSubject {
  const unknown = unknownPathField(input);
  if (unknown !== undefined)
    return { kind: "unknown", why: `narthex has no rule for the field \`${unknown.slice(0, 60)}\`` };
  return calls(...paths.flatMap(callsOn));
}

function edit(path: string, input: JsonObject): SubjectCall {
  const before = requireText(input, "old_string");
  const after = requireText(input, "new_string");
  // Clients create a file by replacing the empty string.
  if (before === "") return { tool: "file_write", input: { content: after }, path };
  return { tool: "file_edit", input: { old_content: before, new_content: after }, path };
}

function calls(...list: readonly SubjectCall[]): HookSubject {
  return { kind: "calls", calls: list };
}
