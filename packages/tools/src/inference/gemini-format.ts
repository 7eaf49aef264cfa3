import { countOf, fieldOf, listOf, textOf } from "@narthex/contracts";
import { type AnswerPart, type ModelFormat, type StopWords, StreamedError, stopReasonOf } from "./model-format.ts";
import { parseEvent } from "./parse-event.ts";

const STOP_WORDS: StopWords = new Map([
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

/** Gemini's `streamGenerateContent`. A stream has no mark at its end: its last event says why the model stopped. */
export const geminiFormat: ModelFormat = {
  hasEndMark: false,
  // SECURITY: the right is to this very model; one segment of the path keeps it from naming another, or another method.
  path: ({ model }) => `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
  headers: ({ key }) => (key === undefined ? [] : [["x-goog-api-key", { secret: key }]]),
  body: ({ prompt, systemPrompt, maxTokens, temperature }) => ({
    ...(systemPrompt !== undefined && { systemInstruction: { parts: [{ text: systemPrompt }] } }),
    contents: [{ role: "user", parts: [{ text: prompt }] }],
    generationConfig: { maxOutputTokens: maxTokens, temperature },
  }),
  read(data) {
    const chunk = parseEvent(data);
    if ((fieldOf(chunk, "error") ?? null) !== null) throw new StreamedError(chunk);
    const candidate = listOf(chunk, "candidates").find((one) => (countOf(one, "index") ?? 0) === 0);
    const isBlocked = textOf(fieldOf(chunk, "promptFeedback"), "blockReason") !== undefined;
    const finish = textOf(candidate, "finishReason");
    return {
      text: textIn(candidate),
      model: textOf(chunk, "modelVersion"),
      stopReason: isBlocked ? "refusal" : stopReasonOf(STOP_WORDS, finish),
      ...useOf(fieldOf(chunk, "usageMetadata")),
    };
  },
};

/** What the model thought is not what it answered. */
function textIn(candidate: unknown): string {
  const parts = listOf(fieldOf(candidate, "content"), "parts");
  return parts.map((part) => (fieldOf(part, "thought") === true ? "" : (textOf(part, "text") ?? ""))).join("");
}

function useOf(usage: unknown): AnswerPart {
  const asked = countOf(usage, "promptTokenCount");
  if (asked === undefined) return {};
  const inputTokens = asked + (countOf(usage, "toolUsePromptTokenCount") ?? 0);
  const outputTokens = (countOf(usage, "candidatesTokenCount") ?? 0) + (countOf(usage, "thoughtsTokenCount") ?? 0);
  return { inputTokens, outputTokens };
}
