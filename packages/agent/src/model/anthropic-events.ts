import { countOf, fieldOf, textOf } from "../stream/loose-fields.ts";
import type { KeptBlock } from "./anthropic-model.ts";
import type { ModelEvent } from "./model-client.ts";

/** Reads everything but the calls from one streamed message. */
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
    const delta = fieldOf(event, "delta");
    const block = reasoning.get(countOf(event, "index") ?? -1);
    const text = textOf(delta, "text");
    const thinking = textOf(delta, "thinking");
    const signature = textOf(delta, "signature");
    if (text !== undefined) yield { type: "text", text };
    if (thinking !== undefined) yield { type: "reasoning", text: thinking };
    if (thinking !== undefined) block?.thinking.push(thinking);
    if (signature !== undefined) block?.signature.push(signature);
  }

  function readStart(event: unknown): void {
    const block = fieldOf(event, "content_block");
    const data = textOf(block, "data");
    if (fieldOf(block, "type") === "redacted_thinking" && data !== undefined) {
      kept.push({ type: "redacted_thinking", data });
    } else if (fieldOf(block, "type") === "thinking") {
      reasoning.set(countOf(event, "index") ?? -1, { thinking: [], signature: [] });
    }
  }

  function* readUsage(usage: unknown): Generator<ModelEvent> {
    if (typeof usage !== "object" || usage === null) return;
    const given = countOf(usage, "input_tokens");
    const cached =
      (countOf(usage, "cache_read_input_tokens") ?? 0) + (countOf(usage, "cache_creation_input_tokens") ?? 0);
    if (given !== undefined) inputTokens = given + cached;
    outputTokens = countOf(usage, "output_tokens") ?? outputTokens;
    yield { type: "usage", inputTokens, outputTokens };
  }

  return {
    *read(event) {
      switch (fieldOf(event, "type")) {
        case "message_start":
          yield* readUsage(fieldOf(fieldOf(event, "message"), "usage"));
          break;
        case "content_block_start":
          readStart(event);
          break;
        case "content_block_delta":
          yield* readDelta(event);
          break;
        case "message_delta":
          yield* readUsage(fieldOf(event, "usage"));
          if (fieldOf(fieldOf(event, "delta"), "stop_reason") === "max_tokens") yield { type: "cut" };
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
