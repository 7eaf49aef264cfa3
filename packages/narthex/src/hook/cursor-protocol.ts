import type { JsonObject } from "@narthex/contracts";
import { cursorSubject } from "./cursor-subject.ts";
import { type HookCall, HookProblem } from "./hook-call.ts";
import { findText, requireObject, requireText } from "./hook-fields.ts";
import { type HookProtocol, shownReason } from "./hook-protocol.ts";

/** Events that narthex decides, and whether Cursor can ask the user in them. */
const EVENTS: ReadonlyMap<string, boolean> = new Map([
  ["preToolUse", false],
  ["beforeShellExecution", true],
  ["beforeMCPExecution", true],
  ["beforeReadFile", false],
  ["beforeTabFileRead", false],
]);

/** Cursor's events before a tool runs. */
export const cursorProtocol: HookProtocol = {
  parseCall(message, environment) {
    const event = requireText(message, "hook_event_name");
    if (!EVENTS.has(event)) throw new HookProblem(`\`${event.slice(0, 60)}\` is no event that narthex decides`);
    const isGeneric = event === "preToolUse";
    return {
      client: "cursor",
      event,
      toolName: isGeneric ? requireText(message, "tool_name") : (findText(message, "tool_name") ?? event),
      input: isGeneric ? requireObject(message["tool_input"] ?? {}, "tool_input") : omitFileContent(message),
      conversation: findText(message, "conversation_id", "session_id") ?? "",
      // Cursor often leaves `cwd` empty.
      directory: findText(message, "cwd") || findWorkspaceRoot(message, environment),
    };
  },
  toSubject: cursorSubject,
  encodeResponse(verdict, call) {
    const permission = toPermission(verdict.answer, call);
    if (permission === "allow") return { permission };
    const text = shownReason(verdict, permission);
    const hint =
      verdict.answer === "ask" && permission === "deny" ? "; Cursor asks nobody here, use narthex's own tool" : "";
    return { permission, user_message: `${text}${hint}`, agent_message: `${text}${hint}` };
  },
  hasFollowUpEvent: comesAgain,
  findWorkspace: findWorkspaceRoot,
};

/** SECURITY: in events where Cursor cannot ask the user, it treats `ask` as allow. */
function toPermission(answer: string, call: HookCall | undefined): "allow" | "ask" | "deny" {
  if (answer === "none" || answer === "allow") return "allow";
  if (answer === "deny" || call === undefined) return "deny";
  return EVENTS.get(call.event) === true || comesAgain(call) ? "ask" : "deny";
}

/** Commands and MCP tools fire a second event, in which Cursor can ask the user. */
function comesAgain({ event, toolName }: HookCall): boolean {
  return event === "preToolUse" && (toolName === "Shell" || toolName.startsWith("MCP:"));
}

/** Removes the text of a file about to be read, which the decision does not need. */
function omitFileContent(message: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([name]) => name !== "content"));
}

function findWorkspaceRoot(message: JsonObject, environment: NodeJS.ProcessEnv): string {
  const named = environment["CURSOR_PROJECT_DIR"];
  if (named !== undefined && named !== "") return named;
  const roots = message["workspace_roots"];
  const [first] = Array.isArray(roots) ? roots : [];
  if (typeof first !== "string") throw new HookProblem("`workspace_roots` names no workspace");
  return first;
}
