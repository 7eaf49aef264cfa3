import type { ScriptedResponse, ScriptedCall } from "./scripted-response.ts";

/**
 * A response as streamed by OpenAI's Responses API: each item is announced, filled, and repeated as a whole at its end.
 */
export function openaiResponsesStream(answer: ScriptedResponse): string {
  const items = itemEvents(answer);
  const events = [
    { type: "response.created", response: response(answer, "in_progress", []) },
    { type: "response.in_progress", response: response(answer, "in_progress", []) },
    ...items.flatMap((events, output_index) => events.map((event) => ({ ...event, output_index }))),
    { type: "response.completed", response: response(answer, "completed", finishedItems(items)) },
  ];
  return events
    .map((event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`)
    .join("");
}

/** The same response to a request without `stream`. */
export function openaiResponse(answer: ScriptedResponse): string {
  return JSON.stringify(response(answer, "completed", finishedItems(itemEvents(answer))));
}

interface ItemEvent {
  readonly type: string;
  readonly item?: object;
  readonly [field: string]: unknown;
}

/** The events of each item, in order. */
function itemEvents({ texts, calls = [] }: ScriptedResponse): readonly (readonly ItemEvent[])[] {
  return [...(texts.length > 0 ? [messageEvents(texts)] : []), ...calls.map(callEvents)];
}

function finishedItems(items: readonly (readonly ItemEvent[])[]): readonly unknown[] {
  return items.map((events) => events.at(-1)?.item);
}

function messageEvents(texts: readonly string[]): readonly ItemEvent[] {
  const at = { item_id: "msg_1", content_index: 0 };
  const message = { id: "msg_1", type: "message", role: "assistant" };
  const part = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });
  const text = texts.join("");
  return [
    { type: "response.output_item.added", item: { ...message, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...at, part: part("") },
    ...texts.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: part(text) },
    { type: "response.output_item.done", item: { ...message, status: "completed", content: [part(text)] } },
  ];
}

function callEvents({ id, name, namespace, input }: ScriptedCall): readonly ItemEvent[] {
  const item_id = `fc_${id}`;
  const text = JSON.stringify(input);
  const item = (status: string, words: string) => ({
    id: item_id,
    type: "function_call",
    status,
    call_id: id,
    name,
    ...(namespace !== undefined && { namespace }),
    arguments: words,
  });
  return [
    { type: "response.output_item.added", item: item("in_progress", "") },
    { type: "response.function_call_arguments.delta", item_id, delta: text },
    { type: "response.function_call_arguments.done", item_id, name, arguments: text },
    { type: "response.output_item.done", item: item("completed", text) },
  ];
}

function response({ model, inputTokens, outputTokens }: ScriptedResponse, status: string, output: readonly unknown[]) {
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_694_268_190,
    status,
    model,
    output,
    usage: status === "completed" ? usage : null,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: false,
    tool_choice: "auto",
    tools: [],
  };
}
