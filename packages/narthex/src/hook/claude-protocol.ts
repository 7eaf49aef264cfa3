import { dirname, isAbsolute, join } from "node:path";
import type { JsonObject } from "@narthex/contracts";
import { claudeSubject } from "./claude-subject.ts";
import { HookProblem } from "./hook-call.ts";
import { findText, requireObject, requireText } from "./hook-fields.ts";
import { type HookProtocol, shownReason } from "./hook-protocol.ts";

const EVENT = "PreToolUse";

/** Claude Code's PreToolUse event, which other programs that read its settings support as well. */
export const claudeProtocol: HookProtocol = {
  parseCall(message) {
    const event = requireText(message, "hook_event_name", "hookEventName");
    if (event !== EVENT) throw new HookProblem(`\`${event.slice(0, 60)}\` is no event that narthex decides`);
    return {
      client: "claude",
      event,
      toolName: requireText(message, "tool_name"),
      input: requireObject(message["tool_input"] ?? {}, "tool_input"),
      conversation: findText(message, "session_id", "sessionId") ?? "",
      directory: requireText(message, "cwd"),
      resultsDirectory: resultsDirectory(message),
    };
  },
  toSubject: (call) => claudeSubject(call),
  encodeResponse(verdict) {
    // Without a decision, the client's own permissions apply.
    if (verdict.answer === "none") return {};
    return {
      hookSpecificOutput: {
        hookEventName: EVENT,
        permissionDecision: verdict.answer,
        permissionDecisionReason: shownReason(verdict, verdict.answer),
      },
    };
  },
  hasFollowUpEvent: () => false,
  findWorkspace: (message, environment) => environment["CLAUDE_PROJECT_DIR"] || requireText(message, "cwd"),
};

/** Long results are stored beside the transcript, in a directory of the conversation. */
function resultsDirectory(message: JsonObject): string | undefined {
  const transcript = findText(message, "transcript_path");
  const session = findText(message, "session_id");
  if (transcript === undefined || session === undefined) return undefined;
  return isAbsolute(transcript) && /^[\w-]+$/.test(session)
    ? join(dirname(transcript), session, "tool-results")
    : undefined;
}
