import { readCount, readField, readText } from "@narthex/contracts";
import { type ModelFormat, type ProviderStopReasons, StreamedError, stopReasonOf } from "./model-format.ts";
import { parseEvent } from "./parse-event.ts";

const VERSION = "2023-06-01";

const STOP_REASONS: ProviderStopReasons = new Map([
  ["end_turn", "end"],
  ["max_tokens", "max_tokens"],
  ["model_context_window_exceeded", "max_tokens"],
  ["stop_sequence", "stop_sequence"],
  ["tool_use", "tool_use"],
  ["refusal", "refusal"],
]);

/** Anthropic's messages API. */
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
    switch (readField(event, "type")) {
      case "error":
        throw new StreamedError(event);
      case "message_start": {
        const message = readField(event, "message");
        // The output tokens are counted at the end of the stream; the value here is only the start of the count.
        return { model: readText(message, "model"), inputTokens: inputIn(readField(message, "usage")) };
      }
      case "content_block_start":
        return { text: readText(readField(event, "content_block"), "text") };
      case "content_block_delta":
        return { text: readText(readField(event, "delta"), "text") };
      case "message_delta": {
        const usage = readField(event, "usage");
        const stop = readText(readField(event, "delta"), "stop_reason");
        const use = { inputTokens: inputIn(usage), outputTokens: readCount(usage, "output_tokens") };
        return { stopReason: stopReasonOf(STOP_REASONS, stop), ...use };
      }
      case "message_stop":
        return { isEnd: true };
      default:
        return {};
    }
  },
};

/** Tokens that were read from a cache or written to it count as input too. */
function inputIn(usage: unknown): number | undefined {
  const given = readCount(usage, "input_tokens");
  if (given === undefined) return undefined;
  return (
    given + (readCount(usage, "cache_read_input_tokens") ?? 0) + (readCount(usage, "cache_creation_input_tokens") ?? 0)
  );
}
