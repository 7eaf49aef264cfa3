import type { AgentMessage, ToolMessage } from "../model/agent-message.ts";
import type { ExecutedCall } from "../session/execute-call.ts";
import type { StreamedCall } from "../stream/call-delta.ts";

/**
 * INVARIANT: every call gets a result, in the order of the calls and however the run ended. No provider continues a
 * conversation with missing results.
 */
export function completeMessages(messages: readonly AgentMessage[]): AgentMessage[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const last = messages[at];
  if (last?.role !== "assistant") return [...messages];
  // Each message may use the same ids again.
  const behind = messages.slice(at + 1);
  const resultOf = ({ id }: StreamedCall): AgentMessage | undefined =>
    behind.find((message) => message.role === "tool" && message.callId === id);
  const results = last.calls.map((call) => resultOf(call) ?? toMessage(call, ENDED));
  const known = new Set(results);
  return [...messages.slice(0, at + 1), ...results, ...behind.filter((message) => !known.has(message))];
}

const ENDED: ExecutedCall = {
  outcome: {
    status: "error",
    text: "The run ended before this call had a result. If it was made at all is in the ledger.",
    requestId: "",
    cost: 0,
  },
  recorded: undefined,
};

export function toMessage({ id, name }: StreamedCall, { outcome, recorded }: ExecutedCall): ToolMessage {
  const { text, status } = outcome;
  return { role: "tool", callId: id, name, text, isError: status !== "success", ...(recorded && { recorded }) };
}
