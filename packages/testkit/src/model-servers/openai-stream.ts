import type { ScriptedAnswer } from "./scripted-answer.ts";

/** An answer as OpenAI's chat completions stream it, with its use of tokens in a last chunk of its own. */
export function openaiStream(answer: ScriptedAnswer): string {
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
  const { inputTokens: prompt_tokens, outputTokens: completion_tokens } = answer;
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  const chunks = [
    choice({ role: "assistant", content: "", refusal: null }),
    ...answer.texts.map((content) => choice({ content })),
    choice({}, answer.stop),
    { ...frame, choices: [], usage },
  ];
  return [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
}

export function openaiError(message: string, type: string, code: string | null = null): string {
  return JSON.stringify({ error: { message, type, param: null, code } });
}
