import { isIPv4 } from "node:net";
import { KernelError } from "@narthex/contracts";
import { hostCovers, type EgressTarget, type HostPattern, type SecretValue } from "@narthex/kernel";
import { egressBlocked } from "./egress-blocked-error.ts";

/** A secret that only the gate holds. */
export interface EgressSecret {
  readonly value: string;
  /** Where it may go; nowhere else, whoever asks. */
  readonly hosts: readonly HostPattern[];
}

export type EgressSecrets = ReadonlyMap<string, EgressSecret | { readonly problem: string }>;

/** The text of a header. Throws NETWORK_BLOCKED for a secret that must not go to this host. */
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
  // SECURITY: in the clear anybody on the way reads it; an address that was granted exactly is a machine one runs.
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
  // SECURITY: a name may begin like an address.
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}
