import type { JsonObject } from "@narthex/contracts";
import { readDataUrls, readItems, readObject, readString, readText, type ModelRequest } from "./model-request.ts";

/** Parses a body of `POST /v1/chat/completions`. */
export function readOpenaiRequest(body: JsonObject): ModelRequest {
  const messages = readItems(body["messages"]);
  const from = (...roles: readonly string[]) => messages.filter(({ role }) => roles.includes(readString(role)));
  return {
    instructions: from("system", "developer")
      .map(({ content }) => readText(content))
      .join("\n"),
    prompts: from("user").map(({ content }) => readText(content)),
    tools: readItems(body["tools"]).map((declaration) => ({
      name: readString(readObject(declaration["function"])["name"]),
      declaration,
    })),
    calls: from("assistant")
      .flatMap(({ tool_calls }) => readItems(tool_calls))
      .map((call) => ({ name: readString(readObject(call["function"])["name"]) })),
    results: from("tool").map(({ content }) => ({ text: readText(content) })),
    media: readDataUrls(body["messages"]),
  };
}
