import type { ModelTurn } from "./model-turn.ts";

/** A message as Anthropic streams it. */
export function messageEvents(turn: ModelTurn, index: number): string {
  const message = { id: `msg_${index}`, type: "message", role: "assistant", model: "scripted", content: [] };
  const { content_block, delta, stop_reason } = "answer" in turn ? answering(turn.answer) : calling(turn, index);
  const events = [
    {
      type: "message_start",
      message: { ...message, stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } },
    },
    { type: "content_block_start", index: 0, content_block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function answering(text: string) {
  return {
    content_block: { type: "text", text: "" },
    delta: { type: "text_delta", text },
    stop_reason: "end_turn",
  };
}

function calling(turn: Extract<ModelTurn, { call: string }>, index: number) {
  return {
    content_block: { type: "tool_use", id: `toolu_${index}`, name: turn.call, input: {} },
    delta: { type: "input_json_delta", partial_json: turn.arguments },
    stop_reason: "tool_use",
  };
}
