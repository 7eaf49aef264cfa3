import { type JsonObject, type SessionInfo, SessionInfoSchema, toHex } from "@narthex/contracts";
import { messageToJson } from "../terminal/message-json.ts";
import { formatCount, formatTime } from "../terminal/units.ts";
import { readJsonText } from "./json-text.ts";

/** Converts a session for scripts: the message's fields, with the lease and the budgets as JSON values. */
export function sessionToJson(session: SessionInfo): JsonObject {
  return {
    ...messageToJson(SessionInfoSchema, session),
    lease: session.lease === "" ? null : readJsonText(session.lease),
    budget_remaining: session.budgetRemaining === "" ? {} : readJsonText(session.budgetRemaining),
  };
}

/** Describes a session for people. */
export function sessionFacts(session: SessionInfo, lease: "whole" | "named"): (readonly [string, string])[] {
  return [
    ["session", session.sessionId],
    ["state", session.state],
    ...(session.parentSessionId === "" ? [] : [["split off", session.parentSessionId] as const]),
    ["workspace", session.workspace],
    ["working directory", session.workingDirectory],
    ["tenant", session.tenant],
    ["user", session.user],
    ["agent", session.agent],
    ["opened", formatTime(session.openedAtMs)],
    ["expires", formatTime(session.expiresAtMs)],
    ["calls", formatCount(session.calls)],
    ["labels", session.labels.join(", ") || "none"],
    [
      "budget left",
      session.budgetRemaining === "" || session.budgetRemaining === "{}" ? "unlimited" : session.budgetRemaining,
    ],
    ["seed", toHex(session.seed)],
    ["lease", session.lease === "" || lease === "named" ? session.leaseId : session.lease],
  ];
}
