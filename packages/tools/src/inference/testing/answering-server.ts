import assert from "node:assert/strict";
import type { JsonObject, ToolError } from "@narthex/contracts";
import type { CallResult } from "@narthex/kernel";
import {
  anthropicStream,
  geminiStream,
  type ModelReply,
  type ModelServer,
  openaiStream,
  startModelServer,
} from "@narthex/testkit";
import { type InferenceKernel, openInference, providersAt, toolAt } from "./inference-kernel.ts";

const ANSWER = { model: "m-1-2026", texts: ["Par", "is"], inputTokens: 12, outputTokens: 3 };
export const STREAMS = {
  openai: openaiStream({ ...ANSWER, stop: "stop" }),
  anthropic: anthropicStream({ ...ANSWER, stop: "end_turn" }),
  gemini: geminiStream({ ...ANSWER, stop: "STOP" }),
};

export const LIMITS = { inference_tokens: 10_000, cost_units: 100_000 };
/** The prompt has 30 bytes: ten tokens are reserved for it, and a hundred for the response. */
export const SET_ASIDE = { tokens: 110, cost: 20 + 1000 };
export const LEFT_AFTER_ALL = { tokens: 10_000 - SET_ASIDE.tokens, cost: 100_000 - SET_ASIDE.cost };
export const LEFT_AFTER_NOTHING = { tokens: 10_000, cost: 100_000 };

/** A model server for every format that sends the configured reply, and kernels that call it. */
export interface AnsweringServer extends AsyncDisposable {
  readonly server: ModelServer;
  reply: ModelReply;
  open(lease?: Parameters<typeof openInference>[1]): Promise<InferenceKernel>;
  /** Calls the tool once and returns its error. */
  failing(reply: ModelReply, input?: JsonObject): Promise<ToolError>;
}

export async function startAnsweringServer(): Promise<AnsweringServer> {
  const server = await startModelServer(() => at.reply);
  const at: AnsweringServer = {
    server,
    reply: { body: "" },
    open: (lease = { budgets: LIMITS }) => openInference(toolAt(providersAt(server)), lease),
    async failing(reply, input) {
      at.reply = reply;
      return errorOf(await (await at.open()).ask(input));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return at;
}

export function errorOf({ response }: CallResult): ToolError {
  assert.equal(response.result.case, "error");
  return response.result.case === "error" ? response.result.value : assert.fail();
}
