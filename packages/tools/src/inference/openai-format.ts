import { readCount, readField, readList, readText } from "@narthex/contracts";
import { type ModelFormat, type ProviderStopReasons, StreamedError, stopReasonOf } from "./model-format.ts";
import { parseEvent } from "./parse-event.ts";

const STOP_REASONS: ProviderStopReasons = new Map([
  ["stop", "end"],
  ["length", "max_tokens"],
  ["content_filter", "refusal"],
  ["tool_calls", "tool_use"],
  ["function_call", "tool_use"],
]);

/** OpenAI's chat completions, which many other servers support too. */
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
    if ((readField(chunk, "error") ?? null) !== null) throw new StreamedError(chunk);
    const choice = readList(chunk, "choices").find((candidate) => (readCount(candidate, "index") ?? 0) === 0);
    const delta = readField(choice, "delta");
    const finish = readText(choice, "finish_reason");
    const refusal = readText(delta, "refusal");
    const usage = readField(chunk, "usage");
    return {
      text: readText(delta, "content") ?? refusal,
      model: readText(chunk, "model"),
      stopReason: refusal !== undefined ? "refusal" : stopReasonOf(STOP_REASONS, finish),
      inputTokens: readCount(usage, "prompt_tokens"),
      outputTokens: readCount(usage, "completion_tokens"),
    };
  },
};
