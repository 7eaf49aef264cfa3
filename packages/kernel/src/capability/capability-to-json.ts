import type { JsonObject } from "@narthex/contracts";
import type { Capability, HostPattern } from "./capability.ts";

/** Converts a capability to the JSON form in leases, declarations and the ledger; `parseCapability` reads it. */
export function capabilityToJson(capability: Capability): JsonObject {
  switch (capability.kind) {
    case "fs_read":
    case "fs_write":
    case "vault":
      return { kind: capability.kind, prefixes: [...capability.prefixes] };
    case "net_read":
    case "net_write":
      return { kind: capability.kind, hosts: capability.hosts.map(hostToJson) };
    case "inference":
      return {
        kind: capability.kind,
        models: capability.models.map(({ provider, model }) => ({ provider, model })),
      };
    case "wasm_exec":
      return { kind: capability.kind, max_fuel: capability.maxFuel, max_memory_bytes: capability.maxMemoryBytes };
    case "clock":
      return { kind: capability.kind };
    default:
      return { kind: capability.kind, names: [...capability.names] };
  }
}

function hostToJson({ host, ports }: HostPattern): JsonObject {
  return ports === undefined ? { host } : { host, ports: [...ports] };
}
