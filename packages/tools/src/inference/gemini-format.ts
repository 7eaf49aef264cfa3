import { readCount, readField, readList, readText } from "@narthex/contracts";
import {
  type ResponsePart,
  type ModelFormat,
  type ProviderStopReasons,
  StreamedError,
  stopReasonOf,
} from "./model-format.ts";
import { parseEvent } from "./parse-event.ts";

const STOP_REASONS: ProviderStopReasons = new Map([
  ["STOP", "end"],
  ["MAX_TOKENS", "max_tokens"],
  ["SAFETY", "refusal"],
  ["RECITATION", "refusal"],
  ["BLOCKLIST", "refusal"],
  ["PROHIBITED_CONTENT", "refusal"],
  ["SPII", "refusal"],
  ["MALFORMED_FUNCTION_CALL", "tool_use"],
  ["UNEXPECTED_TOOL_CALL", "tool_use"],
]);

/** Gemini's `streamGenerateContent`. A stream has no end mark: its last event contains the stop reason. */
export const geminiFormat: ModelFormat = {
  hasEndMark: false,
  // SECURITY: the capability is for exactly this model. Encoding it as one path segment prevents it from naming another
  // model or another method.
  path: ({ model }) => `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
  headers: ({ key }) => (key === undefined ? [] : [["x-goog-api-key", { secret: key }]]),
  body: ({ prompt, systemPrompt, maxTokens, temperature }) => ({
    ...(systemPrompt !== undefined && { systemInstruction: { parts: [{ text: systemPrompt }] } }),
    contents: [{ role: "user", parts: [{ text: prompt }] }],
    generationConfig: { maxOutputTokens: maxTokens, temperature },
  }),
  read(data) {
    const chunk = parseEvent(data);
    if ((readField(chunk, "error") ?? null) !== null) throw new StreamedError(chunk);
    const candidate = readList(chunk, "candidates").find((one) => (readCount(one, "index") ?? 0) === 0);
    const isBlocked = readText(readField(chunk, "promptFeedback"), "blockReason") !== undefined;
    const finish = readText(candidate, "finishReason");
    return {
      text: textIn(candidate),
      model: readText(chunk, "modelVersion"),
      stopReason: isBlocked ? "refusal" : stopReasonOf(STOP_REASONS, finish),
      ...useOf(readField(chunk, "usageMetadata")),
    };
  },
};

/** Thoughts of the model are not part of its response. */
function textIn(candidate: unknown): string {
  const parts = readList(readField(candidate, "content"), "parts");
  return parts.map((part) => (readField(part, "thought") === true ? "" : (readText(part, "text") ?? ""))).join("");
}

function useOf(usage: unknown): ResponsePart {
  const asked = readCount(usage, "promptTokenCount");
  if (asked === undefined) return {};
  const inputTokens = asked + (readCount(usage, "toolUsePromptTokenCount") ?? 0);
  const outputTokens = (readCount(usage, "candidatesTokenCount") ?? 0) + (readCount(usage, "thoughtsTokenCount") ?? 0);
  return { inputTokens, outputTokens };
}
