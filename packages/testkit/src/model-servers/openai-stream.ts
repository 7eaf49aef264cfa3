import type { ScriptedResponse } from "./scripted-response.ts";

/** A response as streamed by OpenAI's chat completions, with the token usage in a separate last chunk. */
export function openaiStream(answer: ScriptedResponse): string {
  const frame = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_694_268_190,
    model: answer.model,
    system_fingerprint: "fp_44709d6fcb",
  };
  const choice = (delta: object, finish_reason: string | null = null) => ({
    ...frame,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    usage: null,
  });
  const chunks = [
    choice({ role: "assistant", content: "", refusal: null }),
    ...answer.texts.map((content) => choice({ content })),
    ...(answer.calls ?? []).flatMap(({ id, name, input }, index) => [
      choice({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      choice({ tool_calls: [{ index, function: { arguments: JSON.stringify(input) } }] }),
    ]),
    choice({}, answer.stop),
    { ...frame, choices: [], usage: countTokens(answer) },
  ];
  return [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
}

/** The same response to a request without `stream`. */
export function openaiCompletion(answer: ScriptedResponse): string {
  const tool_calls = (answer.calls ?? []).map(({ id, name, input }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const message = { role: "assistant", content: answer.texts.join(""), ...(tool_calls.length > 0 && { tool_calls }) };
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_694_268_190,
    model: answer.model,
    choices: [{ index: 0, message, finish_reason: answer.stop, logprobs: null }],
    usage: countTokens(answer),
  });
}

export function openaiError(message: string, type: string, code: string | null = null): string {
  return JSON.stringify({ error: { message, type, param: null, code } });
}

function countTokens({ inputTokens: prompt_tokens, outputTokens: completion_tokens }: ScriptedResponse) {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
