import type { JsonObject } from "@narthex/contracts";
import { readItems, readObject, readString, readText, type ModelRequest } from "./model-request.ts";

/** Parses a body of `POST /v1/messages`. */
export function readAnthropicRequest(body: JsonObject): ModelRequest {
  const messages = readItems(body["messages"]);
  const blocks = messages.flatMap(({ content }) => readItems(content));
  const results = blocks.filter(({ type }) => type === "tool_result");
  const everywhere = [...blocks, ...results.flatMap(({ content }) => readItems(content))];
  return {
    instructions: readText(body["system"]),
    prompts: messages.filter(({ role }) => role !== "assistant").map(({ content }) => readText(content)),
    tools: readItems(body["tools"]).map((declaration) => ({ name: readString(declaration["name"]), declaration })),
    calls: blocks.filter(({ type }) => type === "tool_use").map(({ name }) => ({ name: readString(name) })),
    results: results.map(({ content }) => ({ text: readText(content) })),
    media: everywhere
      .filter(({ type }) => type === "image" || type === "document")
      .map(({ source }) => readString(readObject(source)["media_type"])),
  };
}
