import type { JsonObject } from "@narthex/contracts";
import { SERVER_NAME } from "../connect/server-entry.ts";
import { command, editFile, fetchPage, listFiles, readFile, search, searchWeb, writeFile } from "./file-subjects.ts";
import type { HookCall, HookSubject } from "./hook-call.ts";

const SUBJECTS: ReadonlyMap<string, (input: JsonObject) => HookSubject> = new Map([
  ["Bash", command],
  ["Monitor", command],
  ["Read", readFile],
  ["NotebookRead", readFile],
  ["Write", writeFile],
  ["NotebookEdit", writeFile],
  ["Edit", editFile],
  ["MultiEdit", editFile],
  ["Grep", search],
  ["Glob", listFiles],
  ["LS", listFiles],
  ["WebFetch", fetchPage],
  ["WebSearch", searchWeb],
]);

/** They speak with the person, keep lists, or start agents whose own calls come here again. */
const HARMLESS: ReadonlySet<string> = new Set([
  "Agent",
  "AskUserQuestion",
  "EndConversation",
  "EnterPlanMode",
  "ExitPlanMode",
  "Skill",
  "Task",
  "TaskCreate",
  "TaskGet",
  "TaskList",
  "TaskUpdate",
  "TodoRead",
  "TodoWrite",
  "ToolSearch",
]);

/** What a call of Claude Code comes to. */
export function claudeSubject({ toolName, input }: HookCall): HookSubject {
  if (toolName.startsWith(`mcp__${SERVER_NAME}__`)) return { kind: "own" };
  if (HARMLESS.has(toolName)) return { kind: "harmless" };
  const subject = SUBJECTS.get(toolName);
  if (subject !== undefined) return subject(input);
  const why = toolName.startsWith("mcp__") ? "it is a tool of another MCP server" : "narthex does not know this tool";
  return { kind: "unknown", why };
}
