import { type JsonObject, type ToolInfo, ToolInfoSchema, toHex } from "@narthex/contracts";
import { messageToJson } from "../terminal/message-json.ts";
import { formatBytes, formatDuration } from "../terminal/units.ts";
import { readJsonText, spacedJson } from "./json-text.ts";

/** Converts a tool for scripts: the message's fields, with schemas and capabilities as JSON values. */
export function toolToJson(tool: ToolInfo): JsonObject {
  return {
    ...messageToJson(ToolInfoSchema, tool),
    input_schema: readJsonText(tool.inputSchema),
    output_schema: tool.outputSchema === "" ? null : readJsonText(tool.outputSchema),
    capabilities: tool.capabilities.map(readJsonText),
  };
}

/** Describes a tool for people, without its schemas. */
export function toolFacts(tool: ToolInfo): (readonly [string, string])[] {
  return [
    ["tool", `${tool.name}@${tool.version}`],
    ["state", tool.reason === "" ? tool.state : `${tool.state}: ${tool.reason}`],
    ["safety tier", tool.safetyTier],
    ["determinism", tool.determinism],
    ["effects", tool.effects.join(", ") || "none"],
    ["capabilities", tool.capabilities.map((text) => spacedJson(readJsonText(text))).join(", ") || "none"],
    ["result", tool.resultType],
    ["source", `${tool.source}, runs ${tool.isolation}`],
    ["price", `${tool.price} cost units`],
    ...boundFacts(tool),
    ["definition hash", toHex(tool.definitionHash)],
  ];
}

function boundFacts({ bounds }: ToolInfo): (readonly [string, string])[] {
  if (bounds === undefined) return [];
  const facts: (readonly [string, string])[] = [
    ["time-out", formatDuration(Number(bounds.timeoutMs))],
    ["shown to a model", formatBytes(bounds.maxOutputBytes)],
  ];
  if (bounds.maxMemoryBytes > 0n) facts.push(["memory", formatBytes(bounds.maxMemoryBytes)]);
  if (bounds.maxCpuMs > 0n) facts.push(["cpu time", formatDuration(Number(bounds.maxCpuMs))]);
  if (bounds.maxFuel > 0n) facts.push(["fuel", bounds.maxFuel.toString()]);
  if (bounds.maxNetworkRequests > 0n) facts.push(["network requests", bounds.maxNetworkRequests.toString()]);
  if (bounds.maxNetworkBytes > 0n) facts.push(["network bytes", formatBytes(bounds.maxNetworkBytes)]);
  return facts;
}
