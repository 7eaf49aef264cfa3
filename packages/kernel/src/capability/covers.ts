import type { Capability, CapabilityKind, HostPattern, InferenceCapability } from "./capability.ts";
import { canonicalHost, hostCovers, isPort } from "./host-pattern.ts";
import { isNormalPath, prefixCovers } from "./path-prefix.ts";

/**
 * How an empty scope or a `*` in a requested right is read: as *some* right of the kind (in a tool's declaration, where
 * the arguments decide which) or as *all* of them (in arguments and delegation). In a held right `*` always means all,
 * and an empty scope always nothing.
 */
type Reading = "some" | "all";

/**
 * Whether a held right satisfies a declared requirement.
 *
 * SPEC: an empty or `*` scope in a required capability asks for some right of that kind.
 * SECURITY: never use this for a right made from arguments; there a `*` is a name that the caller chose. Use
 * `isWithin`.
 */
export function covers(held: Capability, asked: Capability): boolean {
  return isCovered([held], asked, "some");
}

/**
 * Whether several held rights together satisfy a requirement: each path, host and port, or name must be covered by one
 * of them.
 */
export function coveredByAny(held: readonly Capability[], asked: Capability): boolean {
  return isCovered(held, asked, "some");
}

/** Whether one right includes everything that another does; an empty or `*` scope in `inner` needs a `*` in `outer`. */
export function contains(outer: Capability, inner: Capability): boolean {
  return isCovered([outer], inner, "all");
}

/** Whether the rights of `child` never exceed those of `parent` taken together. */
export function isWithin(child: readonly Capability[], parent: readonly Capability[]): boolean {
  return child.every((capability) => isCovered(parent, capability, "all"));
}

export interface CapabilityRequirements {
  /** What the tool's declaration requires. */
  readonly required: readonly Capability[];
  /** What these exact arguments need. */
  readonly needed: readonly Capability[];
}

const NONE_MISSING: readonly Capability[] = [];

/**
 * Returns the rights that a call lacks: declared ones read as *some*, those of its arguments as *all*. Allocates
 * nothing when nothing is missing.
 */
export function missingCapabilities(
  held: readonly Capability[],
  demand: CapabilityRequirements,
): readonly Capability[] {
  let missing: Capability[] | undefined;
  for (const capability of demand.required) {
    if (!isCovered(held, capability, "some")) (missing ??= []).push(capability);
  }
  for (const capability of demand.needed) {
    if (!isCovered(held, capability, "all")) (missing ??= []).push(capability);
  }
  return missing ?? NONE_MISSING;
}

function isCovered(held: readonly Capability[], asked: Capability, reading: Reading): boolean {
  switch (asked.kind) {
    case "fs_read":
    case "fs_write":
    case "vault":
      return everyPart(asked.prefixes, "*", (prefix) => isPathCovered(held, asked.kind, prefix, reading));
    case "net_read":
    case "net_write":
      return everyPart(asked.hosts, EVERY_HOST, (host) => isHostCovered(held, asked.kind, host, reading));
    case "db_read":
    case "db_write":
    case "exec":
    case "git":
    case "artifact":
    case "env_read":
    case "mcp":
      return everyPart(asked.names, "*", (name) => isNameCovered(held, asked.kind, name, reading));
    case "inference":
      return everyPart(asked.models, EVERY_MODEL, (model) => isModelCovered(held, model, reading));
    case "wasm_exec":
      return held.some(
        (right) =>
          right.kind === "wasm_exec" && right.maxFuel >= asked.maxFuel && right.maxMemoryBytes >= asked.maxMemoryBytes,
      );
    case "clock":
      return held.some((right) => right.kind === "clock");
    default:
      return assertUnknownKind(asked);
  }
}

const EVERY_HOST: HostPattern = { host: "*" };
const EVERY_MODEL: Model = { provider: "*", model: "*" };

type Model = InferenceCapability["models"][number];

/** Checks every part of a scope; an empty scope stands for `*`. */
function everyPart<T>(parts: readonly T[], whole: T, isPartCovered: (part: T) => boolean): boolean {
  return parts.length === 0 ? isPartCovered(whole) : parts.every(isPartCovered);
}

function isPathCovered(held: readonly Capability[], kind: CapabilityKind, path: string, reading: Reading): boolean {
  const isWildcard = path === "*";
  // SECURITY: a path that is not in normal form is never covered.
  if (!isWildcard && !isNormalPath(path)) return false;
  const asked = isWildcard ? "/" : path;
  return held.some(
    (right) =>
      right.kind === kind &&
      "prefixes" in right &&
      right.prefixes.some((prefix) => (isWildcard && reading === "some") || prefixCovers(prefix, asked)),
  );
}

function isHostCovered(
  held: readonly Capability[],
  kind: CapabilityKind,
  asked: HostPattern,
  reading: Reading,
): boolean {
  // SECURITY: `evil.test\0.allowed.com` and every other unusual spelling is never covered, not even by `*`.
  if (canonicalHost(asked.host) !== asked.host) return false;
  const isAnyHost = asked.host === "*" && reading === "some";
  const isReached = (port: number | undefined): boolean =>
    held.some(
      (right) =>
        right.kind === kind &&
        "hosts" in right &&
        right.hosts.some(
          (pattern) =>
            (isAnyHost || hostCovers(pattern.host, asked.host)) &&
            ((isAnyHost && port === undefined) || portCovers(pattern.ports, port)),
        ),
    );
  if (asked.ports === undefined || asked.ports.length === 0) return isReached(undefined);
  return asked.ports.every((port) => isPort(port) && isReached(port));
}

function portCovers(held: readonly number[] | undefined, asked: number | undefined): boolean {
  return held === undefined || (asked !== undefined && held.includes(asked));
}

function isNameCovered(held: readonly Capability[], kind: CapabilityKind, name: string, reading: Reading): boolean {
  if (name === "") return false;
  return held.some(
    (right) => right.kind === kind && "names" in right && right.names.some((own) => nameCovers(own, name, reading)),
  );
}

function isModelCovered(held: readonly Capability[], asked: Model, reading: Reading): boolean {
  if (asked.provider === "" || asked.model === "") return false;
  return held.some(
    (right) =>
      right.kind === "inference" &&
      right.models.some(
        (own) => nameCovers(own.provider, asked.provider, reading) && nameCovers(own.model, asked.model, reading),
      ),
  );
}

function nameCovers(held: string, asked: string, reading: Reading): boolean {
  return held === "*" || held === asked || (asked === "*" && reading === "some");
}

/** Reached only by values that bypassed the type checker. */
function assertUnknownKind(_asked: never): boolean {
  return false;
}
