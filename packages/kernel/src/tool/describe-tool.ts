import { canonicalJson, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { Capability } from "../capability/capability.ts";
import { capabilityToJson } from "../capability/capability-to-json.ts";
import type { Bounds, ToolDeclaration } from "./tool.ts";

/**
 * A declaration as plain JSON: what definition hashes cover and what `tools show` prints. The same declaration gives
 * the same JSON, however its effects and capabilities were ordered.
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
    // Only where there are any, so that the definitions of all others stay what they were.
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
