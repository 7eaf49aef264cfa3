import type { Capability, HostPattern } from "./capability.ts";
import { showText } from "./quote-text.ts";

const MAX_SHOWN = 3;

/** Describes a capability in a few words for messages, such as `fs_read /src` or `net_read *.example.com:443`. */
export function describeCapability(capability: Capability): string {
  const scope = describeScope(capability);
  return scope === "" ? capability.kind : `${capability.kind} ${scope}`;
}

/**
 * Describes the rights that a lease lacks, for users. A declaration asks for any right of a kind, the arguments for a
 * specific one: where both are missing, only the specific one is named.
 */
export function describeMissing(missing: readonly Capability[]): string[] {
  const texts = missing.map((capability) => ({ kind: capability.kind, text: describeCapability(capability) }));
  const named = new Set(texts.filter(({ kind, text }) => text !== kind).map(({ kind }) => kind));
  return [...new Set(texts.filter(({ kind, text }) => text !== kind || !named.has(kind)).map(({ text }) => text))];
}

function describeScope(capability: Capability): string {
  switch (capability.kind) {
    case "fs_read":
    case "fs_write":
    case "vault":
      return describeList(capability.prefixes);
    case "net_read":
    case "net_write":
      return describeList(capability.hosts.map(describeHost));
    case "inference":
      return describeList(capability.models.map(({ provider, model }) => `${provider}/${model}`));
    case "wasm_exec":
      return `${capability.maxFuel} fuel, ${capability.maxMemoryBytes} bytes`;
    case "clock":
      return "";
    default:
      return describeList(capability.names);
  }
}

function describeList(items: readonly string[]): string {
  const shown = items.slice(0, MAX_SHOWN).map(showText).join(", ");
  return items.length > MAX_SHOWN ? `${shown} and ${items.length - MAX_SHOWN} more` : shown;
}

function describeHost({ host, ports }: HostPattern): string {
  if (ports === undefined) return host;
  const shown = host.includes(":") ? `[${host}]` : host;
  return `${shown}:${ports.join(",")}`;
}
