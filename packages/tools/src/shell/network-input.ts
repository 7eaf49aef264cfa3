import { KernelError } from "@narthex/contracts";
import { type Capability, canonicalHost, type Effect, type HostPattern } from "@narthex/kernel";

/** Input fields of a command that uses the network. */
export const NETWORK_FIELDS = {
  network_access: {
    type: "boolean",
    description: "Ask for http and https to granted hosts, through the proxy that is set.",
  },
  network_read_only: {
    type: "boolean",
    description: "Only to read, by http or git; nothing is sent.",
  },
  hosts: {
    type: "array",
    items: { type: "string", minLength: 1, maxLength: 300 },
    maxItems: 50,
    description: "Hosts it needs, `host` or `host:port`.",
  },
} as const;

export interface NetworkInput {
  readonly network_access?: boolean | undefined;
  readonly network_read_only?: boolean | undefined;
  readonly hosts?: readonly string[] | undefined;
}

const PLACE = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::([1-9]\d{0,4}))?$/;
const MAX_PORT = 65_535;
const PORTS = [443, 80];

/** The network effects of a command, in addition to those that every command has. */
export function networkEffects({ network_access: wanted, network_read_only: reads }: NetworkInput): readonly Effect[] {
  if (wanted !== true) return [];
  return reads === true ? ["net_read"] : ["net_read", "net_write"];
}

/**
 * The capabilities needed for the named hosts. For other hosts, the gate requests a decision when the command contacts
 * them.
 */
export function networkCapabilities(input: NetworkInput): readonly Capability[] {
  const effects = networkEffects(input);
  const hosts = (input.hosts ?? []).map((text) => parseHostPattern(text, PORTS));
  if (effects.length === 0 || hosts.length === 0) return [];
  return [{ kind: effects.includes("net_write") ? "net_write" : "net_read", hosts }];
}

/** Parses `host` or `host:port`; without a port, the pattern has the `standard` ports. Throws INVALID_INPUT. */
export function parseHostPattern(text: string, standard: readonly number[]): HostPattern {
  const [, address, name, port] = PLACE.exec(text) ?? [];
  const host = canonicalHost(address ?? name ?? "");
  if (host === undefined || host.includes("*") || Number(port ?? 1) > MAX_PORT) {
    const message = "name a host, or a host and a port: `example.com`, `example.com:8080`";
    throw new KernelError("INVALID_INPUT", message, { violations: [{ field: "$.hosts", rule: "format", message }] });
  }
  return { host, ports: port === undefined ? standard : [Number(port)] };
}
