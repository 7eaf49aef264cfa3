import type { Capability, HostPattern } from "@narthex/kernel";

/** One single thing a tool could do, as concrete as it gets. */
export interface Access {
  readonly kind: Capability["kind"];
  /** Components, labels from the last on, or names. */
  readonly parts: readonly string[];
  readonly port?: number;
  readonly amounts?: readonly [fuel: number, memory: number];
}

/** A name and a port that no generated right mentions: only a wildcard holds them. */
const FRESH_NAME = "zz";
const FRESH_PORT = 9;

/**
 * Whether a held right allows one access. Written from the definition of each kind, by components and labels, without
 * a look at how rights are compared with each other.
 */
export function allows(right: Capability, access: Access): boolean {
  if (right.kind !== access.kind) return false;
  if ("prefixes" in right) return right.prefixes.some((prefix) => isBelow(access.parts, componentsOf(prefix)));
  if ("hosts" in right) {
    return right.hosts.some(
      ({ host, ports }) => matchesHost(host, access.parts) && (ports === undefined || ports.includes(access.port ?? 0)),
    );
  }
  if ("names" in right) return right.names.some((name) => name === "*" || name === access.parts[0]);
  if ("models" in right) {
    return right.models.some(({ provider, model }) =>
      [provider, model].every((name, index) => name === "*" || name === access.parts[index]),
    );
  }
  if ("maxFuel" in right) {
    const [fuel, memory] = access.amounts ?? [0, 0];
    return right.maxFuel >= fuel && right.maxMemoryBytes >= memory;
  }
  return true;
}

/**
 * Accesses that stand for all those a right asks for: who may have each of these may have every one. An empty scope
 * asks for all of its kind. Undefined for a right with a part that is not in its one spelling: nobody may have that.
 */
export function witnesses(right: Capability): Access[] | undefined {
  const { kind } = right;
  if ("prefixes" in right) {
    const prefixes = right.prefixes.length === 0 ? ["*"] : right.prefixes;
    if (!prefixes.every(isPlainPath)) return undefined;
    return prefixes.flatMap((prefix) => [
      { kind, parts: componentsOf(prefix) },
      { kind, parts: [...componentsOf(prefix), FRESH_NAME] },
    ]);
  }
  if ("hosts" in right) {
    const hosts = right.hosts.length === 0 ? [{ host: "*" }] : right.hosts;
    if (!hosts.every(({ host }) => isPlainHost(host))) return undefined;
    return hosts.flatMap((pattern) => hostWitnesses(kind, pattern));
  }
  if ("names" in right) {
    const names = right.names.length === 0 ? ["*"] : right.names;
    if (names.includes("")) return undefined;
    return names.map((name) => ({ kind, parts: [concrete(name)] }));
  }
  if ("models" in right) {
    const models = right.models.length === 0 ? [{ provider: "*", model: "*" }] : right.models;
    if (models.some(({ provider, model }) => provider === "" || model === "")) return undefined;
    return models.map(({ provider, model }) => ({ kind, parts: [concrete(provider), concrete(model)] }));
  }
  if ("maxFuel" in right) return [{ kind, parts: [], amounts: [right.maxFuel, right.maxMemoryBytes] }];
  return [{ kind, parts: [] }];
}

function hostWitnesses(kind: Capability["kind"], { host, ports }: HostPattern): Access[] {
  const labels = host === "*" ? [FRESH_NAME] : host.split(".").toReversed();
  const parts = labels.map((label) => concrete(label));
  return (ports === undefined || ports.length === 0 ? [FRESH_PORT] : ports).map((port) => ({ kind, parts, port }));
}

function concrete(name: string): string {
  return name === "*" ? FRESH_NAME : name;
}

function componentsOf(path: string): string[] {
  return path === "*" ? [] : path.split("/").filter((component) => component !== "");
}

function isBelow(path: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((component, index) => path[index] === component);
}

function matchesHost(pattern: string, labels: readonly string[]): boolean {
  if (pattern === "*") return true;
  const wanted = pattern.split(".").toReversed();
  const isWild = wanted.at(-1) === "*";
  const fixed = isWild ? wanted.slice(0, -1) : wanted;
  return (isWild ? labels.length > fixed.length : labels.length === fixed.length) && isBelow(labels, fixed);
}

/** By the letters that the generator uses, not by what the kernel thinks of a path. */
function isPlainPath(path: string): boolean {
  return path === "*" || path === "/" || /^(?:\/[a-z]+)+$/.test(path);
}

function isPlainHost(host: string): boolean {
  return /^(?:\*|(?:\*\.)?[a-z]+(?:\.[a-z]+)*)$/.test(host);
}
