import type { Capability, CapabilityKind, HostPattern } from "../capability/capability.ts";
import type { Effect, ToolDeclaration } from "../tool/tool.ts";

/** The one path and the one host that a policy request is about. */
export interface PolicyTarget {
  /** Relative to the workspace, `.` for its root; unchanged if it lies elsewhere. Set for tools that work on files. */
  readonly path?: string;
  readonly writes?: boolean;
  readonly host?: string;
  readonly port?: number;
  /** Whether the call may use methods other than GET and HEAD. */
  readonly sends?: boolean;
}

/** The other resources a call needs, as sets, because rules can compare sets with a list. */
export interface PolicyScopes {
  readonly programs?: readonly string[];
  readonly tables?: readonly string[];
}

const NOWHERE: PolicyTarget = Object.freeze({});
const NO_SCOPES: PolicyScopes = Object.freeze({});
const ANY_PORT = 0;

/** All targets of a call, at least one. Policy decides each of them. */
export function targetsOf(
  tool: Pick<ToolDeclaration, "capabilities">,
  effects: readonly Effect[],
  needed: readonly Capability[],
  workspace: string,
): readonly PolicyTarget[] {
  const places: readonly PolicyTarget[] = declares(tool, "fs_read", "fs_write")
    ? placesOf(effects, needed, workspace)
    : [NOWHERE];
  const hosts = hostsOf(needed);
  return hosts.length === 0 ? places : places.flatMap((place) => hosts.map((host) => ({ ...place, ...host })));
}

export function scopesOf(tool: Pick<ToolDeclaration, "capabilities">, needed: readonly Capability[]): PolicyScopes {
  const runs = declares(tool, "exec");
  const asks = declares(tool, "db_read", "db_write");
  if (!runs && !asks) return NO_SCOPES;
  return {
    ...(runs && { programs: namesOf(needed, "exec") }),
    ...(asks && { tables: namesOf(needed, "db_read", "db_write") }),
  };
}

function declares({ capabilities }: Pick<ToolDeclaration, "capabilities">, ...kinds: CapabilityKind[]): boolean {
  return capabilities.some(({ kind }) => kinds.includes(kind));
}

/** INVARIANT: a call of a file tool that names no path targets the whole workspace. */
function placesOf(effects: readonly Effect[], needed: readonly Capability[], workspace: string): PolicyTarget[] {
  const places = new Map<string, boolean>();
  for (const capability of needed) {
    if (capability.kind !== "fs_read" && capability.kind !== "fs_write") continue;
    for (const prefix of capability.prefixes) {
      const path = relativeTo(workspace, prefix);
      places.set(path, places.get(path) === true || capability.kind === "fs_write");
    }
  }
  if (places.size === 0) return [{ path: ".", writes: effects.includes("fs_write") }];
  return [...places].map(([path, writes]) => ({ path, writes }));
}

/**
 * The paths that a call names for writing, relative to the workspace. Excludes the root, which is not a particular
 * path.
 */
export function writtenPaths(needed: readonly Capability[], workspace: string): string[] {
  const prefixes = needed.flatMap((capability) => (capability.kind === "fs_write" ? capability.prefixes : []));
  return prefixes.map((prefix) => relativeTo(workspace, prefix)).filter((path) => path !== ".");
}

function relativeTo(workspace: string, path: string): string {
  if (path === workspace) return ".";
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
}

function hostsOf(needed: readonly Capability[]): PolicyTarget[] {
  const hosts: PolicyTarget[] = [];
  for (const capability of needed) {
    if (capability.kind !== "net_read" && capability.kind !== "net_write") continue;
    const sends = capability.kind === "net_write";
    for (const pattern of capability.hosts) {
      for (const port of portsOf(pattern)) hosts.push({ host: pattern.host, port, sends });
    }
  }
  return hosts;
}

/** The ports of a pattern; 0 stands for all ports, so that no rule naming a port matches. */
function portsOf({ ports }: HostPattern): readonly number[] {
  return ports === undefined || ports.length === 0 ? [ANY_PORT] : ports;
}

function namesOf(needed: readonly Capability[], ...kinds: CapabilityKind[]): string[] {
  const names = new Set<string>();
  for (const capability of needed) {
    if (!kinds.includes(capability.kind) || !("names" in capability)) continue;
    for (const name of capability.names) names.add(name);
  }
  return [...names].sort();
}
