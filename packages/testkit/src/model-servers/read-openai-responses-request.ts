import type { JsonObject } from "@narthex/contracts";
import {
  readDataUrls,
  readItems,
  readString,
  readText,
  type ModelRequest,
  type DeclaredTool,
} from "./model-request.ts";

/** Parses a body of `POST /v1/responses`. */
export function readOpenaiResponsesRequest(body: JsonObject): ModelRequest {
  const input = readItems(body["input"]);
  const from = (...types: readonly string[]) => input.filter(({ type }) => types.includes(readString(type)));
  const messages = input.filter(({ role }) => role !== undefined);
  // The description of a namespace applies to all of its tools.
  const namespaces = readItems(body["tools"]).filter(({ type }) => type === "namespace");
  const system = messages.filter(({ role }) => role === "system" || role === "developer");
  return {
    instructions: [
      body["instructions"],
      ...system.map(({ content }) => content),
      ...namespaces.map(({ description }) => description),
    ]
      .map(readText)
      .join("\n"),
    prompts: messages.filter(({ role }) => role === "user").map(({ content }) => readText(content)),
    tools: readItems(body["tools"]).flatMap(readTool),
    calls: from("function_call", "custom_tool_call").map(({ name }) => ({ name: readString(name) })),
    results: from("function_call_output", "custom_tool_call_output").map(({ output }) => ({ text: readText(output) })),
    media: readDataUrls(body["input"]),
  };
}

/** A tool, or the tools of a namespace. A tool of the provider's own has a type and no name. */
function readTool(declaration: JsonObject): readonly DeclaredTool[] {
  const name = readString(declaration["name"]) || readString(declaration["type"]);
  if (declaration["type"] !== "namespace") return [{ name, declaration }];
  return readItems(declaration["tools"]).map((tool) => ({
    name: readString(tool["name"]),
    namespace: name,
    declaration: tool,
  }));
}
