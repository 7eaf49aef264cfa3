import { type JsonValue, KernelError } from "@narthex/contracts";
import type { FunctionDecl } from "../declare/function-decl.ts";
import type { AgentMessage, AssistantMessage } from "../model/agent-message.ts";
import type { ModelClient, ModelUsage } from "../model/model-client.ts";
import type { StreamedCall } from "../stream/call-delta.ts";
import type { AgentEvent } from "./agent-run.ts";
import { untilAborted } from "./until-aborted.ts";

export interface Turn {
  readonly message: AssistantMessage;
  readonly usage: ModelUsage;
  /** Whether the message reached its length limit. */
  readonly isCut: boolean;
}

export interface TurnRequest {
  readonly model: ModelClient;
  readonly messages: readonly AgentMessage[];
  readonly tools: readonly FunctionDecl[];
  readonly signal: AbortSignal;
  readonly tell: (event: AgentEvent) => Promise<void>;
}

/** Maximum number of characters in one message. */
const MAX_TEXT = 4 * 1024 * 1024;
/** Approximate number of characters per token, for a provider that does not report usage. */
const CHARACTERS_PER_TOKEN = 4;

/** Streams one message of the model. */
export async function runTurn({ model, messages, tools, signal, tell }: TurnRequest): Promise<Turn> {
  const texts: string[] = [];
  const kept: JsonValue[] = [];
  let calls: readonly StreamedCall[] = [];
  let usage: ModelUsage | undefined;
  let isCut = false;
  let length = 0;
  for await (const event of untilAborted(model.stream({ messages, tools, signal }), signal)) {
    switch (event.type) {
      case "text":
      case "reasoning":
        length += event.text.length;
        if (length > MAX_TEXT) throw new KernelError("RESOURCE_EXCEEDED", "the model's message is too long");
        if (event.type === "text") texts.push(event.text);
        await tell(event);
        break;
      case "calls":
        calls = event.calls;
        break;
      case "keep":
        kept.push(event.part);
        break;
      case "usage":
        usage = { inputTokens: event.inputTokens, outputTokens: event.outputTokens };
        break;
      case "cut":
        isCut = true;
        break;
    }
  }
  const message: AssistantMessage = {
    role: "assistant",
    text: texts.join(""),
    calls,
    ...(kept.length > 0 && { kept }),
  };
  return { message, usage: usage ?? estimate(messages, message), isCut };
}

/** Estimates usage, so that a cost limit also works with a provider that does not report it. */
function estimate(messages: readonly AgentMessage[], message: AssistantMessage): ModelUsage {
  return {
    inputTokens: Math.ceil(JSON.stringify(messages).length / CHARACTERS_PER_TOKEN),
    outputTokens: Math.ceil(JSON.stringify(message).length / CHARACTERS_PER_TOKEN),
  };
}
