import type { ModelClient } from "@narthex/agent";
import { type ScriptedTurn, type ExpandedTurn, expandTurn } from "./scripted-turn.ts";

/**
 * A model that follows a script. For `runAgent`, and for `generateText` and `streamText` of the AI SDK 6 and 7, whose
 * model interface, version 3, it implements without a dependency.
 */
export interface ScriptedModel extends ModelClient {
  /** The requests it got, turn by turn. */
  readonly requests: readonly ScriptedRequest[];
  readonly specificationVersion: "v3";
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: SdkRequest): Promise<SdkMessage>;
  doStream(options: SdkRequest): Promise<{ stream: ReadableStream<SdkPart> }>;
}

export interface ScriptedRequest {
  /** In the format of the agent loop that sent them. */
  readonly messages: readonly unknown[];
  /** Names of the tools that the model was shown. */
  readonly tools: readonly string[];
}

/** The parts of an AI SDK request that are used. */
export interface SdkRequest {
  readonly prompt: readonly unknown[];
  readonly tools?: readonly { readonly name: string }[] | undefined;
}

export interface SdkMessage {
  content: ({ type: "text"; text: string } | SdkCall)[];
  finishReason: SdkFinish;
  usage: SdkUsage;
  warnings: never[];
}

export type SdkPart =
  | { type: "stream-start"; warnings: never[] }
  | { type: "text-start"; id: string }
  | { type: "text-delta"; id: string; delta: string }
  | { type: "text-end"; id: string }
  | SdkCall
  | { type: "finish"; usage: SdkUsage; finishReason: SdkFinish };

export interface SdkCall {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: string;
}

export interface SdkFinish {
  unified: "stop" | "tool-calls";
  raw: undefined;
}

export interface SdkUsage {
  inputTokens: { total: number; noCache: number; cacheRead: number; cacheWrite: number };
  outputTokens: { total: number; text: number; reasoning: number };
}

const USAGE: SdkUsage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** Returns one turn after the other. Throws if it is called more often than it has turns. */
export function createScriptedModel(...turns: readonly ScriptedTurn[]): ScriptedModel {
  const requests: ScriptedRequest[] = [];

  function next(messages: readonly unknown[], tools: readonly { readonly name: string }[]): ExpandedTurn {
    const turn = turns[requests.length];
    requests.push({ messages: [...messages], tools: tools.map(({ name }) => name) });
    if (turn === undefined)
      throw new Error(`the script has ${turns.length} turns, and the model was asked for one more`);
    return expandTurn(turn, requests.length);
  }

  return {
    requests,
    async *stream({ messages, tools }) {
      const { text, calls } = next(messages, tools);
      if (text !== "") yield { type: "text", text };
      if (calls.length > 0) yield { type: "calls", calls };
    },
    specificationVersion: "v3",
    provider: "narthex-testing",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: async ({ prompt, tools = [] }) => toMessage(next(prompt, tools)),
    async doStream({ prompt, tools = [] }) {
      const parts = toParts(toMessage(next(prompt, tools)));
      return { stream: ReadableStream.from(parts) };
    },
  };
}

function toMessage({ text, calls }: ExpandedTurn): SdkMessage {
  const content: SdkMessage["content"] = text === "" ? [] : [{ type: "text", text }];
  for (const { id, name, arguments: input } of calls) {
    content.push({ type: "tool-call", toolCallId: id, toolName: name, input });
  }
  const unified = calls.length > 0 ? "tool-calls" : "stop";
  return { content, finishReason: { unified, raw: undefined }, usage: USAGE, warnings: [] };
}

function toParts({ content, finishReason, usage }: SdkMessage): SdkPart[] {
  const said = content.flatMap((part): SdkPart[] => {
    if (part.type === "tool-call") return [part];
    const id = "text";
    return [
      { type: "text-start", id },
      { type: "text-delta", id, delta: part.text },
      { type: "text-end", id },
    ];
  });
  return [{ type: "stream-start", warnings: [] }, ...said, { type: "finish", usage, finishReason }];
}
