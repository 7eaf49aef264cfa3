import type { JsonObject, JsonValue } from "@narthex/contracts";
import { readItems, readObject, readString, readText, type ModelRequest } from "./model-request.ts";

/** Parses a body of `POST /v1beta/models/MODEL:streamGenerateContent`. */
export function readGeminiRequest(body: JsonObject): ModelRequest {
  const contents = readItems(body["contents"]);
  const parts = contents.flatMap((content) => readItems(content["parts"]));
  const results = parts.flatMap(({ functionResponse }) => readItems([functionResponse ?? null]));
  const everywhere = [...parts, ...results.flatMap((result) => readItems(result["parts"]))];
  return {
    instructions: readText(readObject(body["systemInstruction"])["parts"]),
    prompts: contents.filter(({ role }) => role !== "model").map((content) => readText(content["parts"])),
    tools: readItems(body["tools"])
      .flatMap((tool) => readItems(tool["functionDeclarations"]))
      .map((declaration) => ({ name: readString(declaration["name"]), declaration })),
    calls: parts
      .flatMap(({ functionCall }) => readItems([functionCall ?? null]))
      .map(({ name }) => ({ name: readString(name) })),
    results: results.map(({ response }) => ({ text: readResponse(response) })),
    media: everywhere
      .flatMap(({ inlineData }) => readItems([inlineData ?? null]))
      .map(({ mimeType }) => readString(mimeType)),
  };
}

/**
 * Clients choose the form of a function response themselves: `{output}`, `{error}`, `{content: [...]}` or any other.
 */
function readResponse(response: JsonValue | undefined): string {
  const { output, error } = readObject(response);
  const text = [output, error].filter((value) => typeof value === "string").join("\n");
  return text === "" ? JSON.stringify(response ?? null) : text;
}
