import type { JsonObject } from "@narthex/contracts";
import { SERVER_NAME } from "../connect/server-entry.ts";
import { command, editFile, fetchPage, listFiles, readFile, search, searchWeb, writeFile } from "./file-subjects.ts";
import { type HookCall, type HookSubject, NO_RULE, NO_RULE_FOR_SERVER } from "./hook-call.ts";
import { findText } from "./hook-fields.ts";

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
  ["ReadMcpResourceTool", readResource],
  ["ReadMcpResourceDirTool", readResource],
]);

/**
 * These tools talk to the user, keep lists, start agents whose own calls come through this hook, or list what servers
 * have, without an argument that could leak data.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  "Agent",
  "AskUserQuestion",
  "CronList",
  "EndConversation",
  "EnterPlanMode",
  "ExitPlanMode",
  "ListAgents",
  "ListMcpResourcesTool",
  "OfferChromeSetup",
  "ProposeGoal",
  "ReadNotifications",
  "RefreshMcpTools",
  "ReportFindings",
  "ScheduleWakeup",
  "ShowOnboardingRolePicker",
  "Skill",
  "StructuredOutput",
  "Task",
  "TaskCreate",
  "TaskGet",
  "TaskList",
  "TaskOutput",
  "TaskStop",
  "TaskUpdate",
  "TodoRead",
  "TodoWrite",
  "ToolSearch",
  "WaitForMcpServers",
]);

/** Maps a call of Claude Code to kernel calls. */
export function claudeSubject({ toolName, input }: HookCall): HookSubject {
  if (toolName.startsWith(`mcp__${SERVER_NAME}__`)) return { kind: "own" };
  if (HARMLESS.has(toolName)) return { kind: "harmless" };
  const subject = SUBJECTS.get(toolName);
  if (subject !== undefined) return subject(input);
  return { kind: "unknown", why: toolName.startsWith("mcp__") ? NO_RULE_FOR_SERVER : NO_RULE };
}

/** Narthex's own resources are results of the session; the kernel checks that they are. */
function readResource(input: JsonObject): HookSubject {
  return findText(input, "server") === SERVER_NAME ? { kind: "own" } : { kind: "unknown", why: NO_RULE_FOR_SERVER };
}
