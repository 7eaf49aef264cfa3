import * as fc from "fast-check";
import type OpenAI from "openai";
import type { DeltaReader, StreamedCall } from "../call-delta.ts";
import { type AccumulatorOptions, ToolCallAccumulator } from "../tool-call-accumulator.ts";

export function accumulate(
  read: DeltaReader,
  events: readonly unknown[],
  options: AccumulatorOptions = {},
): StreamedCall[] {
  let made = 0;
  const accumulator = new ToolCallAccumulator(read, { newId: () => `made_${made++}`, ...options });
  for (const event of events) accumulator.push(event);
  return accumulator.finish();
}

type ChatToolCall = OpenAI.Chat.Completions.ChatCompletionChunk.Choice.Delta.ToolCall;

export function chat(...tool_calls: (Omit<ChatToolCall, "index"> & { index?: number })[]): unknown {
  return { choices: [{ index: 0, delta: { tool_calls } }] };
}

export const piece = (index: number, text: string, more: Partial<ChatToolCall> & { name?: string } = {}) => {
  const { name, ...rest } = more;
  return chat({ index, ...rest, function: { arguments: text, ...(name !== undefined && { name }) } });
};

export const objects = fc.dictionary(
  fc.string({ unit: "binary" }),
  fc.jsonValue({ maxDepth: 2, stringUnit: "binary" }),
  {
    minKeys: 1,
    maxKeys: 3,
  },
);

/** Splits a text at these positions, even inside escapes and surrogate pairs. */
export function cutAt(text: string, places: readonly number[]): string[] {
  const at = [0, ...places.map((place) => place % (text.length + 1)), text.length].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => text.slice(at[index], end));
}
