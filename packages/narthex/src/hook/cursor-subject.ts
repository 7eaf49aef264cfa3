import type { JsonObject } from "@narthex/contracts";
import {
  command,
  deleteFile,
  editFile,
  fetchPage,
  listFiles,
  readFile,
  search,
  searchWeb,
  writeFile,
} from "./file-subjects.ts";
import { type HookCall, type HookSubject, NO_RULE, NO_RULE_FOR_SERVER } from "./hook-call.ts";
import { findText } from "./hook-fields.ts";

const SUBJECTS: ReadonlyMap<string, (input: JsonObject) => HookSubject> = new Map([
  ["Shell", command],
  ["Read", readFile],
  ["Write", writeFile],
  ["StrReplace", editFile],
  ["Edit", editFile],
  ["MultiEdit", editFile],
  ["Delete", deleteFile],
  ["Grep", search],
  ["Glob", listFiles],
  ["LS", listFiles],
  ["WebFetch", fetchPage],
  ["WebSearch", searchWeb],
]);

const HARMLESS: ReadonlySet<string> = new Set(["AskQuestion", "SwitchMode", "Task", "TodoWrite", "UpdateTodos"]);

/**
 * Maps a call of Cursor to kernel calls. `ownCommands` are the command lines with which Cursor starts narthex's own
 * server here.
 */
export function cursorSubject(call: HookCall, ownCommands: readonly string[]): HookSubject {
  const { event, input, toolName } = call;
  if (event === "beforeShellExecution") return command(input);
  if (event === "beforeReadFile" || event === "beforeTabFileRead") return readFile(ownPath(input));
  if (event === "beforeMCPExecution") return serverTool(input, ownCommands);
  if (toolName.startsWith("MCP:")) return { kind: "unknown", why: "which server it goes to is told in another event" };
  if (HARMLESS.has(toolName)) return { kind: "harmless" };
  return SUBJECTS.get(toolName)?.(input) ?? { kind: "unknown", why: NO_RULE };
}

/** Picks the path from the whole message, which also names the transcript and the workspace. */
function ownPath({ file_path = null }: JsonObject): JsonObject {
  return { file_path };
}

/**
 * SECURITY: a repository chooses the names of its servers, so only the command line identifies a server. A command line
 * that only starts with narthex's, or contains its name, is another server.
 */
function serverTool(input: JsonObject, ownCommands: readonly string[]): HookSubject {
  if (ownCommands.includes(findText(input, "command") ?? "")) return { kind: "own" };
  return { kind: "unknown", why: NO_RULE_FOR_SERVER };
}
