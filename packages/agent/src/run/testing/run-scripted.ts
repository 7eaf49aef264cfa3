import assert from "node:assert/strict";
import type { KernelOptions, OpenSessionOptions, Tool } from "@narthex/kernel";
import { createTestKernel } from "@narthex/testkit";
import type { AgentMessage } from "../../model/agent-message.ts";
import { createAgentSession } from "../../session/agent-session.ts";
import type { AgentEvent, AgentOptions } from "../agent-run.ts";
import { runAgent } from "../run-agent.ts";
import { createScriptedModel, type ScriptedTurn } from "./scripted-model.ts";

export interface Setting extends Partial<Omit<AgentOptions, "session" | "model">> {
  readonly kernel?: Partial<Pick<KernelOptions, "policy" | "settings">>;
  readonly open?: Partial<OpenSessionOptions>;
}

/** Runs a scripted model on a kernel with these tools. */
export async function runScripted(tools: readonly Tool[], turns: readonly ScriptedTurn[], setting: Setting = {}) {
  const { kernel: options, open: opening, ...more } = setting;
  const { kernel, open, records } = await createTestKernel({ tools, ...options });
  const opened = await open(opening);
  const model = createScriptedModel(...turns);
  const events: AgentEvent[] = [];
  const session = createAgentSession(kernel, opened);
  const result = runAgent({
    session,
    model,
    messages: [{ role: "user", text: "Do it." }],
    ...more,
    onEvent: async (event) => {
      events.push(event);
      await more.onEvent?.(event);
    },
  });
  return { kernel, opened, model, events, result, records };
}

export function resultsIn(messages: readonly AgentMessage[]): string[] {
  return messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
}

/** Asserts that every call has exactly one result, after the message that made it. */
export function assertComplete(messages: readonly AgentMessage[]): void {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls.map(({ id }) => id) : []));
  const results = messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
  assert.deepEqual(results, calls);
}
