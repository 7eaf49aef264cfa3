import type { ScriptedResponse } from "./scripted-response.ts";

/** A response as streamed by Anthropic's messages API. Output tokens are counted up to the event that reports them. */
export function anthropicStream(answer: ScriptedResponse): string {
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], model: answer.model };
  const usage = { input_tokens: answer.inputTokens, output_tokens: 1 };
  const events = [
    { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } },
    ...blocks(answer).flatMap(({ content_block, deltas }, index) => [
      { type: "content_block_start", index, content_block },
      ...(index === 0 ? [{ type: "ping" }] : []),
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: answer.stop, stop_sequence: null },
      usage: { output_tokens: answer.outputTokens },
    },
    { type: "message_stop" },
  ];
  return events.map((event) => anthropicEvent(event)).join("");
}

/** The same response to a request without `stream`. */
export function anthropicMessage(answer: ScriptedResponse): string {
  return JSON.stringify({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: answer.model,
    content: [
      { type: "text", text: answer.texts.join("") },
      ...(answer.calls ?? []).map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
    ],
    stop_reason: answer.stop,
    stop_sequence: null,
    usage: { input_tokens: answer.inputTokens, output_tokens: answer.outputTokens },
  });
}

export function anthropicEvent(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The body of an error, and the data of an `error` event. */
export function anthropicError(type: string, message: string) {
  return { type: "error", error: { type, message } } as const;
}

/** A block starts empty and is filled by its deltas. */
function blocks({ texts, calls = [] }: ScriptedResponse): { content_block: object; deltas: readonly object[] }[] {
  const text = {
    content_block: { type: "text", text: "" },
    deltas: texts.map((piece) => ({ type: "text_delta", text: piece })),
  };
  return [
    ...(texts.length > 0 ? [text] : []),
    ...calls.map(({ id, name, input }) => ({
      content_block: { type: "tool_use", id, name, input: {} },
      deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(input) }],
    })),
  ];
}
