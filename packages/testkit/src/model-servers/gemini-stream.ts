import type { ScriptedAnswer } from "./scripted-answer.ts";

/** An answer as Gemini's `streamGenerateContent` streams it: the last chunk with text is also the end. */
export function geminiStream(answer: ScriptedAnswer): string {
  const { inputTokens: promptTokenCount, outputTokens: candidatesTokenCount } = answer;
  const frame = { modelVersion: answer.model, responseId: "response-1" };
  const contentOf = (text: string) => ({ parts: [{ text }], role: "model" });
  const last = answer.texts.at(-1) ?? "";
  const chunks = [
    ...answer.texts.slice(0, -1).map((text) => ({
      candidates: [{ content: contentOf(text), index: 0 }],
      usageMetadata: { promptTokenCount, totalTokenCount: promptTokenCount },
      ...frame,
    })),
    {
      candidates: [{ content: contentOf(last), finishReason: answer.stop, index: 0 }],
      usageMetadata: {
        promptTokenCount,
        candidatesTokenCount,
        totalTokenCount: promptTokenCount + candidatesTokenCount,
      },
      ...frame,
    },
  ];
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("");
}

export function geminiError(code: number, status: string, message: string, details: readonly object[] = []): string {
  return JSON.stringify({ error: { code, message, status, details } }, undefined, 2);
}
