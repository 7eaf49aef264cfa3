import { create, type ToolInfo, ToolInfoSchema } from "@narthex/contracts";
import { capabilityToJson, type ToolFacts } from "@narthex/kernel";

/** Converts a registered tool for the wire. */
export function toToolInfo({ declaration, definitionHash, state, reason, viewBytes, anyCase }: ToolFacts): ToolInfo {
  const { bounds } = declaration;
  return create(ToolInfoSchema, {
    name: declaration.name,
    version: declaration.version,
    description: declaration.description,
    inputSchema: JSON.stringify(declaration.inputSchema),
    outputSchema: declaration.outputSchema === undefined ? "" : JSON.stringify(declaration.outputSchema),
    resultType: declaration.resultType,
    safetyTier: declaration.tier,
    determinism: declaration.determinism,
    effects: [...declaration.effects],
    capabilities: declaration.capabilities.map((capability) => JSON.stringify(capabilityToJson(capability))),
    bounds: {
      timeoutMs: BigInt(bounds.timeoutMs),
      maxOutputBytes: BigInt(viewBytes),
      maxMemoryBytes: BigInt(bounds.maxMemoryBytes ?? 0),
      maxCpuMs: BigInt(bounds.maxCpuMs ?? 0),
      maxFuel: BigInt(bounds.maxFuel ?? 0),
      maxNetworkRequests: BigInt(bounds.maxNetworkRequests ?? 0),
      maxNetworkBytes: BigInt(bounds.maxNetworkBytes ?? 0),
    },
    source: declaration.source,
    isolation: declaration.isolation,
    definitionHash,
    state,
    reason,
    price: BigInt(declaration.price),
    anyCase: [...anyCase],
  });
}
