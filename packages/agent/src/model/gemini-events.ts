import type { JsonObject } from "@narthex/contracts";
import { readCount, readField, readList, readText } from "../stream/to-arguments-json.ts";
import { streamTruncated, toProviderError } from "../stream/provider-error.ts";
import { isGeminiPart, NO_SIGNATURE } from "./gemini-contents.ts";
import type { ModelEvent } from "./model-client.ts";

/** Parses everything except the calls from one streamed message. */
export interface GeminiEvents {
  read(chunk: unknown): Iterable<ModelEvent>;
  /** The events with the parts to send back with the message. Throws if the message is incomplete. */
  end(): Iterable<ModelEvent>;
  /** Why Gemini itself could not parse a call of the model, if the message ended for that reason. */
  readonly unreadable: string | undefined;
}

/** The model wrote a call that Gemini could not parse, or an unexpected call. */
const UNREADABLE: ReadonlySet<string> = new Set(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]);
/** Tool name for such a call, so that the model can be told what was wrong with it. */
export const UNREADABLE_CALL = "malformed_function_call";

export function createGeminiEvents(): GeminiEvents {
  const parts: JsonObject[] = [];
  let finish: string | undefined;
  let unreadable: string | undefined;

  function* readPart(part: unknown): Generator<ModelEvent> {
    if (isGeminiPart(part)) keep(parts, part);
    const text = readText(part, "text");
    if (text !== undefined) yield { type: readField(part, "thought") === true ? "reasoning" : "text", text };
  }

  return {
    *read(chunk) {
      const blocked = readText(readField(chunk, "promptFeedback"), "blockReason");
      if (blocked !== undefined) throw toProviderError(`the prompt was blocked: ${blocked}`);
      const [candidate] = readList(chunk, "candidates");
      for (const part of readList(readField(candidate, "content"), "parts")) yield* readPart(part);
      yield* usageOf(readField(chunk, "usageMetadata"));
      const reason = readText(candidate, "finishReason");
      if (reason === undefined) return;
      finish = reason;
      if (UNREADABLE.has(reason)) unreadable = readText(candidate, "finishMessage") ?? reason;
      else if (reason === "MAX_TOKENS") yield { type: "cut" };
      else if (reason !== "STOP") throw toProviderError(`the message was ended: ${reason}`);
    },
    *end() {
      if (finish === undefined) throw streamTruncated();
      for (const part of parts) yield { type: "keep", part };
      if (unreadable === undefined) return;
      const functionCall = { name: UNREADABLE_CALL, args: {} };
      yield { type: "keep", part: { functionCall, thoughtSignature: NO_SIGNATURE } };
    },
    get unreadable() {
      return unreadable;
    },
  };
}

/** Pieces of one text become one part again; signed parts stay unchanged. */
function keep(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1);
  if (last === undefined || !isPlainText(last) || !isPlainText(part) || last["thought"] !== part["thought"]) {
    parts.push(part);
    return;
  }
  parts[parts.length - 1] = { ...last, text: `${readText(last, "text") ?? ""}${readText(part, "text") ?? ""}` };
}

function isPlainText(part: JsonObject): boolean {
  return typeof part["text"] === "string" && Object.keys(part).every((key) => key === "text" || key === "thought");
}

function* usageOf(usage: unknown): Generator<ModelEvent> {
  const asked = readCount(usage, "promptTokenCount");
  if (asked === undefined) return;
  const outputTokens = (readCount(usage, "candidatesTokenCount") ?? 0) + (readCount(usage, "thoughtsTokenCount") ?? 0);
  yield { type: "usage", inputTokens: asked + (readCount(usage, "toolUsePromptTokenCount") ?? 0), outputTokens };
}
