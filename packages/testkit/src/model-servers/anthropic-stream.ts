import type { ScriptedAnswer } from "./scripted-answer.ts";

/** An answer as Anthropic's messages stream it. Tokens of the answer are counted up to the event that tells them. */
export function anthropicStream(answer: ScriptedAnswer): string {
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], model: answer.model };
  const usage = { input_tokens: answer.inputTokens, output_tokens: 1 };
  const events = [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "ping" },
    ...answer.texts.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: answer.stop, stop_sequence: null },
      usage: { output_tokens: answer.outputTokens },
    },
    { type: "message_stop" },
  ];
  return events.map((event) => anthropicEvent(event)).join("");
}

export function anthropicEvent(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The body of an error, and the data of an `error` event. */
export function anthropicError(type: string, message: string) {
  return { type: "error", error: { type, message } } as const;
}
