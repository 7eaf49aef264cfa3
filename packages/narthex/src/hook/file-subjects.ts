import type { JsonObject } from "@narthex/contracts";
import { HookProblem, type HookSubject, type SubjectCall } from "./hook-call.ts";
import { findText, requireObject, requireText } from "./hook-fields.ts";

/** Names under which clients tell of the file that a tool works on. */
const PATH_NAMES = ["file_path", "path", "target_file", "notebook_path"] as const;
/** One question to the kernel each. */
const MAX_EDITS = 50;

export function command(input: JsonObject): HookSubject {
  return calls({ tool: "shell_exec", input: { command: requireText(input, "command") } });
}

export function readFile(input: JsonObject): HookSubject {
  return calls({ tool: "file_read", input: {}, path: requireText(input, ...PATH_NAMES) });
}

export function writeFile(input: JsonObject): HookSubject {
  const path = requireText(input, ...PATH_NAMES);
  const content = findText(input, "content", "contents", "new_source") ?? "";
  return calls({ tool: "file_write", input: { content }, path });
}

export function deleteFile(input: JsonObject): HookSubject {
  return calls({ tool: "file_delete", input: {}, path: requireText(input, ...PATH_NAMES) });
}

/** One replacement, or a list of them. */
export function editFile(input: JsonObject): HookSubject {
  const path = requireText(input, ...PATH_NAMES);
  const { edits } = input;
  if (edits === undefined) return calls(edit(path, input));
  if (!Array.isArray(edits) || edits.length === 0) throw new HookProblem("`edits` is no list of edits");
  if (edits.length > MAX_EDITS) return { kind: "unknown", why: `it makes more than ${MAX_EDITS} edits at once` };
  return calls(...edits.map((one) => edit(path, requireObject(one, "edits"))));
}

export function search(input: JsonObject): HookSubject {
  const path = findText(input, ...PATH_NAMES) ?? ".";
  return calls({ tool: "file_search", input: { pattern: requireText(input, "pattern") }, path });
}

export function listFiles(input: JsonObject): HookSubject {
  const glob = findText(input, "pattern", "glob_pattern") ?? "*";
  // SECURITY: a pattern can lead anywhere by itself: `/etc/*`, `../*`.
  const base = /^(?:[~/]|.*\.\.)/.test(glob) ? glob.replace(/[^/]*[*?[{].*$/, "") : undefined;
  const path = base ?? findText(input, ...PATH_NAMES, "target_directory") ?? ".";
  return calls({ tool: "file_list", input: { recursive: true }, path });
}

export function fetchPage(input: JsonObject): HookSubject {
  return calls({ tool: "web_fetch", input: { url: requireText(input, "url") } });
}

export function searchWeb(input: JsonObject): HookSubject {
  return calls({ tool: "web_search", input: { query: requireText(input, "query", "search_term") } });
}

function edit(path: string, input: JsonObject): SubjectCall {
  const before = requireText(input, "old_string");
  const after = requireText(input, "new_string");
  // Nothing to be replaced: clients make a file that way.
  if (before === "") return { tool: "file_write", input: { content: after }, path };
  return { tool: "file_edit", input: { old_content: before, new_content: after }, path };
}

function calls(...list: readonly SubjectCall[]): HookSubject {
  return { kind: "calls", calls: list };
}
