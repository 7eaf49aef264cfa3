import { countOf, fieldOf, listOf, textOf } from "@narthex/contracts";
import { type ModelFormat, type StopWords, StreamedError, stopReasonOf } from "./model-format.ts";
import { parseEvent } from "./parse-event.ts";

const STOP_WORDS: StopWords = new Map([
  ["stop", "end"],
  ["length", "max_tokens"],
  ["content_filter", "refusal"],
  ["tool_calls", "tool_use"],
  ["function_call", "tool_use"],
]);

/** OpenAI's chat completions, as many other servers speak them too. */
export const openaiFormat: ModelFormat = {
  hasEndMark: true,
  path: () => "/chat/completions",
  headers: ({ key }) => (key === undefined ? [] : [["authorization", { secret: key, prefix: "Bearer " }]]),
  body: ({ model, prompt, systemPrompt, maxTokens, temperature }, { maxTokensField = "max_tokens" }) => ({
    model,
    messages: [
      ...(systemPrompt === undefined ? [] : [{ role: "system", content: systemPrompt }]),
      { role: "user", content: prompt },
    ],
    [maxTokensField]: maxTokens,
    temperature,
    stream: true,
    stream_options: { include_usage: true },
  }),
  read(data) {
    if (data === "[DONE]") return { isEnd: true };
    const chunk = parseEvent(data);
    if ((fieldOf(chunk, "error") ?? null) !== null) throw new StreamedError(chunk);
    const choice = listOf(chunk, "choices").find((candidate) => (countOf(candidate, "index") ?? 0) === 0);
    const delta = fieldOf(choice, "delta");
    const finish = textOf(choice, "finish_reason");
    const refusal = textOf(delta, "refusal");
    const usage = fieldOf(chunk, "usage");
    return {
      text: textOf(delta, "content") ?? refusal,
      model: textOf(chunk, "model"),
      stopReason: refusal !== undefined ? "refusal" : stopReasonOf(STOP_WORDS, finish),
      inputTokens: countOf(usage, "prompt_tokens"),
      outputTokens: countOf(usage, "completion_tokens"),
    };
  },
};
