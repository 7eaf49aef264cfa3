import { isIPv4 } from "node:net";
import { KernelError } from "@narthex/contracts";
import { hostCovers, type EgressTarget, type HostPattern, type SecretValue } from "@narthex/kernel";
import { egressBlocked } from "./egress-blocked-error.ts";

/** A secret that only the gate holds. */
export interface EgressSecret {
  readonly value: string;
  /** The only hosts that it may be sent to, for any caller. */
  readonly hosts: readonly HostPattern[];
}

export type EgressSecrets = ReadonlyMap<string, EgressSecret | { readonly problem: string }>;

/** Builds the value of a header. Throws NETWORK_BLOCKED for a secret that must not be sent to this host. */
export function fillSecret(
  value: SecretValue,
  target: EgressTarget,
  isSecure: boolean,
  secrets: EgressSecrets,
): string {
  const found = secrets.get(value.secret);
  const name = value.secret.slice(0, 80);
  if (found === undefined) throw new KernelError("INVALID_INPUT", `there is no secret \`${name}\``);
  if ("problem" in found)
    throw new KernelError("EXECUTION_FAILED", `the secret \`${name}\` has no value: ${found.problem}`);
  if (!coversTarget(found.hosts, target))
    throw egressBlocked("secret", `\`${name}\` may not be sent to \`${target.host}\``);
  // SECURITY: plain http exposes the secret to everyone on the network path, so it is allowed only to loopback
  // addresses.
  if (!isSecure && !isLoopback(target.host)) throw egressBlocked("secret", `\`${name}\` is sent by https only`);
  if (value.basicUser === undefined) return `${value.prefix ?? ""}${found.value}`;
  return `Basic ${Buffer.from(`${value.basicUser}:${found.value}`).toString("base64")}`;
}

export function coversTarget(
  hosts: readonly HostPattern[],
  { host, port }: Pick<EgressTarget, "host" | "port">,
): boolean {
  return hosts.some((pattern) => hostCovers(pattern.host, host) && (pattern.ports?.includes(port) ?? true));
}

function isLoopback(host: string): boolean {
  // SECURITY: a host name may start with `127.` too, so check that this is an address.
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}
