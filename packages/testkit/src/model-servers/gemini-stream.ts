import type { ScriptedResponse } from "./scripted-response.ts";

/** A response as streamed by Gemini's `streamGenerateContent`: the last chunk with content is also the end. */
export function geminiStream(answer: ScriptedResponse): string {
  const parts = contentParts(answer);
  const chunks = [
    ...parts.slice(0, -1).map((part) => ({
      candidates: [{ content: { parts: [part], role: "model" }, index: 0 }],
      usageMetadata: { promptTokenCount: answer.inputTokens, totalTokenCount: answer.inputTokens },
      ...frame(answer),
    })),
    lastChunk(answer, parts.slice(-1)),
  ];
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("");
}

/** The same response to `generateContent`. */
export function geminiContent(answer: ScriptedResponse): string {
  return JSON.stringify(lastChunk(answer, contentParts(answer)));
}

export function geminiError(code: number, status: string, message: string, details: readonly object[] = []): string {
  return JSON.stringify({ error: { code, message, status, details } }, undefined, 2);
}

function contentParts({ texts, calls = [] }: ScriptedResponse): readonly object[] {
  const parts = [
    ...texts.map((text) => ({ text })),
    ...calls.map(({ id, name, input: args }) => ({ functionCall: { id, name, args } })),
  ];
  return parts.length > 0 ? parts : [{ text: "" }];
}

function lastChunk(answer: ScriptedResponse, parts: readonly object[]): object {
  const { inputTokens: promptTokenCount, outputTokens: candidatesTokenCount } = answer;
  const totalTokenCount = promptTokenCount + candidatesTokenCount;
  return {
    candidates: [{ content: { parts, role: "model" }, finishReason: answer.stop, index: 0 }],
    usageMetadata: { promptTokenCount, candidatesTokenCount, totalTokenCount },
    ...frame(answer),
  };
}

function frame({ model: modelVersion }: ScriptedResponse) {
  return { modelVersion, responseId: "response-1" };
}
