import { canonicalJson, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { Capability } from "../capability/capability.ts";
import { capabilityToJson } from "../capability/capability-to-json.ts";
import type { Bounds, ToolDeclaration } from "./tool.ts";

/**
 * A declaration as plain JSON: the input of definition hashes and the output of `tools show`. Independent of the order
 * of effects and capabilities.
 */
export function describeTool(tool: ToolDeclaration): JsonObject {
  return {
    name: tool.name,
    version: tool.version,
    description: tool.description,
    source: tool.source,
    isolation: tool.isolation,
    input_schema: tool.inputSchema,
    output_schema: tool.outputSchema ?? null,
    result_type: tool.resultType,
    normalise: tool.normalise,
    effects: [...tool.effects].sort(),
    determinism: tool.determinism,
    tier: tool.tier,
    capabilities: describeCapabilities(tool.capabilities),
    bounds: describeBounds(tool.bounds),
    price: tool.price,
    // Omitted if empty, so that the hashes of tools without labels do not change.
    ...(tool.labels !== undefined && tool.labels.length > 0 && { labels: [...tool.labels].sort() }),
    ...(tool.program !== undefined && { program: { hash: tool.program.hash } }),
  };
}

function describeCapabilities(capabilities: readonly Capability[]): JsonValue[] {
  return capabilities
    .map(capabilityToJson)
    .map((plain) => ({ plain, key: canonicalJson(plain) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ plain }) => plain);
}

function describeBounds(bounds: Bounds): JsonObject {
  const described: JsonObject = { timeout_ms: bounds.timeoutMs, max_output_bytes: bounds.maxOutputBytes };
  if (bounds.maxMemoryBytes !== undefined) described["max_memory_bytes"] = bounds.maxMemoryBytes;
  if (bounds.maxCpuMs !== undefined) described["max_cpu_ms"] = bounds.maxCpuMs;
  if (bounds.maxFuel !== undefined) described["max_fuel"] = bounds.maxFuel;
  if (bounds.maxNetworkRequests !== undefined) described["max_network_requests"] = bounds.maxNetworkRequests;
  if (bounds.maxNetworkBytes !== undefined) described["max_network_bytes"] = bounds.maxNetworkBytes;
  return described;
}
