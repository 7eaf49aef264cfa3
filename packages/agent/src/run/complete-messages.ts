import type { AgentMessage, ToolMessage } from "../model/agent-message.ts";
import type { CallOutcome } from "../session/answer-call.ts";
import type { StreamedCall } from "../stream/call-delta.ts";

/** INVARIANT: every call gets a result, however the run ended: no provider takes up a conversation without. */
export function completeMessages(messages: readonly AgentMessage[]): AgentMessage[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  if (last?.role !== "assistant") return [...messages];
  // Ids may come again in every message.
  const answered = new Set(messages.slice(at).flatMap((message) => (message.role === "tool" ? [message.callId] : [])));
  const open = last.calls.filter(({ id }) => !answered.has(id));
  return [...messages, ...open.map((call) => toMessage(call, ENDED))];
}

const ENDED: CallOutcome = {
  status: "error",
  text: "The run ended before this call had a result. If it was made at all is in the ledger.",
  requestId: "",
  cost: 0,
};

export function toMessage({ id, name }: StreamedCall, { text, status }: CallOutcome): ToolMessage {
  return { role: "tool", callId: id, name, text, isError: status !== "success" };
}
