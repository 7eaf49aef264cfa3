import type { ModelTurn } from "./model-turn.ts";

/** A message as OpenAI's chat completions stream it. */
export function chatChunks(turn: ModelTurn, index: number): string {
  const [delta, end] = "answer" in turn ? [{ content: turn.answer }, "stop"] : [calling(turn, index), "tool_calls"];
  const choices = [
    { index: 0, delta: { role: "assistant", ...delta }, finish_reason: null },
    { index: 0, delta: {}, finish_reason: end },
  ];
  const chunks = choices.map((choice) =>
    JSON.stringify({
      id: `chat_${index}`,
      object: "chat.completion.chunk",
      created: 1,
      model: "scripted",
      choices: [choice],
    }),
  );
  return [...chunks, "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
}

function calling(turn: Extract<ModelTurn, { call: string }>, index: number) {
  const named = { name: turn.call, arguments: turn.arguments };
  return { tool_calls: [{ index: 0, id: `call_${index}`, type: "function", function: named }] };
}
