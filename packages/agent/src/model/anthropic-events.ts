import { readCount, readField, readText } from "../stream/to-arguments-json.ts";
import type { KeptBlock } from "./anthropic-model.ts";
import type { ModelEvent } from "./model-client.ts";

/** Parses everything except the calls from one streamed message. */
export interface AnthropicEvents {
  read(event: unknown): Iterable<ModelEvent>;
  end(): Iterable<ModelEvent>;
}

interface Reasoning {
  readonly thinking: string[];
  readonly signature: string[];
}

export function createAnthropicEvents(): AnthropicEvents {
  const reasoning = new Map<number, Reasoning>();
  const kept: KeptBlock[] = [];
  let inputTokens = 0;
  let outputTokens = 0;

  function* readDelta(event: unknown): Generator<ModelEvent> {
    const delta = readField(event, "delta");
    const block = reasoning.get(readCount(event, "index") ?? -1);
    const text = readText(delta, "text");
    const thinking = readText(delta, "thinking");
    const signature = readText(delta, "signature");
    if (text !== undefined) yield { type: "text", text };
    if (thinking !== undefined) yield { type: "reasoning", text: thinking };
    if (thinking !== undefined) block?.thinking.push(thinking);
    if (signature !== undefined) block?.signature.push(signature);
  }

  function readStart(event: unknown): void {
    const block = readField(event, "content_block");
    const data = readText(block, "data");
    if (readField(block, "type") === "redacted_thinking" && data !== undefined) {
      kept.push({ type: "redacted_thinking", data });
    } else if (readField(block, "type") === "thinking") {
      reasoning.set(readCount(event, "index") ?? -1, { thinking: [], signature: [] });
    }
  }

  function* readUsage(usage: unknown): Generator<ModelEvent> {
    if (typeof usage !== "object" || usage === null) return;
    const given = readCount(usage, "input_tokens");
    const cached =
      (readCount(usage, "cache_read_input_tokens") ?? 0) + (readCount(usage, "cache_creation_input_tokens") ?? 0);
    if (given !== undefined) inputTokens = given + cached;
    outputTokens = readCount(usage, "output_tokens") ?? outputTokens;
    yield { type: "usage", inputTokens, outputTokens };
  }

  return {
    *read(event) {
      switch (readField(event, "type")) {
        case "message_start":
          yield* readUsage(readField(readField(event, "message"), "usage"));
          break;
        case "content_block_start":
          readStart(event);
          break;
        case "content_block_delta":
          yield* readDelta(event);
          break;
        case "message_delta":
          yield* readUsage(readField(event, "usage"));
          if (readField(readField(event, "delta"), "stop_reason") === "max_tokens") yield { type: "cut" };
          break;
      }
    },
    *end() {
      for (const { thinking, signature } of reasoning.values()) {
        yield { type: "keep", part: { type: "thinking", thinking: thinking.join(""), signature: signature.join("") } };
      }
      for (const block of kept) yield { type: "keep", part: { ...block } };
    },
  };
}
