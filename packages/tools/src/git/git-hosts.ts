import type { HostPattern, NetworkCapability } from "@narthex/kernel";
import { canonicalHost, isPort } from "@narthex/kernel";
import { parseHostPattern } from "../shell/network-input.ts";
import { GIT_OPERATION_FACTS, type GitOperationName } from "./git-operations.ts";

export interface GitHostsInput {
  readonly operation: GitOperationName;
  readonly args?: readonly string[];
  readonly hosts?: readonly string[];
}

const HTTP = /^(https?):\/\/(?:[^@/\\]*@)?(\[[0-9a-f:]+\]|[^:/?#\\]+)(?::(\d+))?(?=[/?#]|$)/i;
const SSH = /^ssh:\/\/(?:[^@/\\]*@)?([^:/?#\\]+)(?::\d+)?(?=[/?#]|$)/i;
/** `user@host:path`. */
const SCP_LIKE = /^(?:[^/:@\s]+@)([^/:@\s]+):(?!\/\/)/;
const HTTPS_PORT = 443;

/**
 * The hosts that an operation may contact: those in its addresses, and those that the caller named for remotes, whose
 * addresses are stored in the repository. Ssh is not supported: the gate contacts the same host over https.
 */
export function gitHosts({ operation, args = [], hosts = [] }: GitHostsInput): readonly HostPattern[] {
  if (!GIT_OPERATION_FACTS[operation].network) return [];
  const named = hosts.map((text) => parseHostPattern(text, [HTTPS_PORT]));
  return [...named, ...args.flatMap((word) => hostOf(word) ?? [])];
}

export function gitRights({ operation, ...input }: GitHostsInput): readonly NetworkCapability[] {
  const hosts = gitHosts({ operation, ...input });
  if (hosts.length === 0) return [];
  return [{ kind: GIT_OPERATION_FACTS[operation].effects.includes("net_write") ? "net_write" : "net_read", hosts }];
}

/** The host of an http, https or ssh address; undefined for other addresses and for invalid hosts. */
export function hostOf(address: string): HostPattern | undefined {
  const [, scheme, name = "", given] = HTTP.exec(address) ?? [];
  const isHttp = scheme !== undefined;
  const host = canonicalHost(
    isHttp ? name.replace(/^\[|\]$/g, "") : ((SSH.exec(address) ?? SCP_LIKE.exec(address))?.[1] ?? ""),
  );
  const port =
    isHttp && given !== undefined ? Number(given) : isHttp && scheme.toLowerCase() === "http" ? 80 : HTTPS_PORT;
  // SECURITY: `*` in an address is a literal character, but would be interpreted as a pattern.
  return host === undefined || host.includes("*") || !isPort(port) ? undefined : { host, ports: [port] };
}
