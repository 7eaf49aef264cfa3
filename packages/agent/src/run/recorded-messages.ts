import type { AgentMessage, AssistantMessage, ToolMessage } from "../model/agent-message.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { AgentTools } from "../session/agent-tools.ts";
import { type ExecuteCallOptions, executeCall, readCall } from "../session/execute-call.ts";
import { toMessage } from "./complete-messages.ts";

/** The messages as a transcript records them: without the texts that must stay in the kernel. */
export function toRecordedMessages(messages: readonly AgentMessage[]): AgentMessage[] {
  return messages.map((message) => {
    if (message.role !== "tool" || message.recorded === undefined) return message;
    const { recorded, ...open } = message;
    return "words" in recorded ? { ...open, text: recorded.words } : { ...message, text: "" };
  });
}

/**
 * Gets the texts that a transcript does not contain from the kernel, which decides again whether the session may see
 * them.
 */
export async function restoreMessages(
  messages: readonly AgentMessage[],
  session: AgentSession,
  tools: AgentTools,
  options: ExecuteCallOptions,
): Promise<AgentMessage[]> {
  const restored: AgentMessage[] = [];
  let last: AssistantMessage | undefined;
  for (const message of messages) {
    if (message.role === "assistant") last = message;
    restored.push(message.role === "tool" ? await restore(message, last, session, tools, options) : message);
  }
  return restored;
}

async function restore(
  message: ToolMessage,
  asked: AssistantMessage | undefined,
  session: AgentSession,
  tools: AgentTools,
  options: ExecuteCallOptions,
): Promise<ToolMessage> {
  const { recorded, callId } = message;
  if (recorded === undefined || "words" in recorded) return message;
  const call = asked?.calls.find(({ id }) => id === callId);
  const read = call && readCall(call, tools);
  // SECURITY: the kernel does not know the call in another session, and would execute it.
  if (call === undefined || typeof read !== "object" || recorded.sessionId !== session.id) {
    return { ...message, text: "What this call came to is not kept. Make it again if you need it." };
  }
  return toMessage(call, await executeCall(read, tools, session, { ...options, requestId: recorded.requestId }));
}
