import { countOf, fieldOf, textOf } from "@narthex/contracts";
import { type ModelFormat, type StopWords, StreamedError, stopReasonOf } from "./model-format.ts";
import { parseEvent } from "./parse-event.ts";

const VERSION = "2023-06-01";

const STOP_WORDS: StopWords = new Map([
  ["end_turn", "end"],
  ["max_tokens", "max_tokens"],
  ["model_context_window_exceeded", "max_tokens"],
  ["stop_sequence", "stop_sequence"],
  ["tool_use", "tool_use"],
  ["refusal", "refusal"],
]);

/** Anthropic's messages. */
export const anthropicFormat: ModelFormat = {
  hasEndMark: true,
  path: () => "/v1/messages",
  headers: ({ key }) => [
    ["anthropic-version", VERSION],
    ...(key === undefined ? [] : [["x-api-key", { secret: key }] as const]),
  ],
  body: ({ model, prompt, systemPrompt, maxTokens, temperature }) => ({
    model,
    max_tokens: maxTokens,
    ...(systemPrompt !== undefined && { system: systemPrompt }),
    messages: [{ role: "user", content: prompt }],
    temperature,
    stream: true,
  }),
  read(data) {
    const event = parseEvent(data);
    switch (fieldOf(event, "type")) {
      case "error":
        throw new StreamedError(event);
      case "message_start": {
        const message = fieldOf(event, "message");
        // The tokens of the answer are counted at its end: what stands here is where the count begins.
        return { model: textOf(message, "model"), inputTokens: inputIn(fieldOf(message, "usage")) };
      }
      case "content_block_start":
        return { text: textOf(fieldOf(event, "content_block"), "text") };
      case "content_block_delta":
        return { text: textOf(fieldOf(event, "delta"), "text") };
      case "message_delta": {
        const usage = fieldOf(event, "usage");
        const stop = textOf(fieldOf(event, "delta"), "stop_reason");
        const use = { inputTokens: inputIn(usage), outputTokens: countOf(usage, "output_tokens") };
        return { stopReason: stopReasonOf(STOP_WORDS, stop), ...use };
      }
      case "message_stop":
        return { isEnd: true };
      default:
        return {};
    }
  },
};

/** What came from a cache, or went there, was read all the same. */
function inputIn(usage: unknown): number | undefined {
  const given = countOf(usage, "input_tokens");
  if (given === undefined) return undefined;
  return (
    given + (countOf(usage, "cache_read_input_tokens") ?? 0) + (countOf(usage, "cache_creation_input_tokens") ?? 0)
  );
}
