import { KernelError } from "@narthex/contracts";
import type { BudgetLimits } from "../budget/budget.ts";
import type { Capability, HostPattern } from "../capability/capability.ts";
import { isNormalPath } from "../capability/path-prefix.ts";
import { BOUND_CEILINGS } from "../tool/ceilings.ts";
import type { DelegableRights, Lease, LeaseRequest } from "./lease.ts";
import { checkLeaseRequest, MAX_TOOL_PATTERNS } from "./parse-lease-request.ts";
import { createRightsInterner } from "./rights-interner.ts";
import { expandToolPatterns } from "./tool-pattern.ts";

/** Eight hours. */
export const DEFAULT_LEASE_TTL_MS = 8 * 3_600_000;

export interface LeaseDefaults {
  readonly budgets: BudgetLimits;
  readonly ttlMs: number;
  /** Hosts that the session may send requests to; none by default. */
  readonly hosts?: readonly HostPattern[];
}

export interface LeaseGrant {
  readonly id: string;
  /** The session's id. */
  readonly holder: string;
  /** If undefined, the session gets the default lease. */
  readonly request: LeaseRequest | undefined;
  readonly defaults: LeaseDefaults;
  readonly nowMs: number;
  /** Names of the tools that are ready. */
  readonly knownTools: readonly string[];
  /** Absolute, real path. */
  readonly workspace: string;
}

/**
 * Creates a lease granted by an administrator; omitted fields get their defaults. Throws LEASE_INVALID.
 *
 * SPEC: without a request every ready tool, read and write in the workspace, no network unless the kernel's settings
 * name hosts, highest tier privileged, default budgets, eight hours.
 */
export function createLease(grant: LeaseGrant): Lease {
  // A request from code in this process is checked and normalized like one from outside.
  const request = checkLeaseRequest(grant.request ?? {});
  const usable = shareRights({
    toolPatterns: expandToolPatterns(request.tool_patterns ?? ["*"], grant.knownTools),
    capabilities: request.capabilities ?? defaultCapabilities(grant.workspace, grant.defaults.hosts ?? []),
    highestTier: request.highest_tier ?? "privileged",
  });
  const startsAtMs = Math.max(grant.nowMs, request.not_before_ms ?? 0);
  const expiresAtMs = startsAtMs + (request.ttl_ms ?? grant.defaults.ttlMs);
  if (!Number.isSafeInteger(expiresAtMs)) throw new KernelError("LEASE_INVALID", "the lease ends beyond all calendars");
  if (usable.toolPatterns.length > MAX_TOOL_PATTERNS) {
    throw new KernelError("LEASE_INVALID", `\`*\` stands for more than ${MAX_TOOL_PATTERNS} tools; name fewer`);
  }
  return {
    id: grant.id,
    parentId: undefined,
    holder: grant.holder,
    ...usable,
    budgets: request.budgets ?? grant.defaults.budgets,
    notBeforeMs: request.not_before_ms ?? grant.nowMs,
    expiresAtMs,
    delegable: request.delegable === undefined ? usable : delegableRights(request.delegable, usable, grant),
    revoked: false,
  };
}

const shareRights = createRightsInterner();

function delegableRights(
  request: NonNullable<LeaseRequest["delegable"]>,
  usable: DelegableRights,
  { knownTools }: LeaseGrant,
): DelegableRights {
  return {
    toolPatterns:
      request.tool_patterns === undefined ? usable.toolPatterns : expandToolPatterns(request.tool_patterns, knownTools),
    capabilities: request.capabilities ?? usable.capabilities,
    highestTier: request.highest_tier ?? usable.highestTier,
  };
}

function defaultCapabilities(workspace: string, hosts: readonly HostPattern[]): Capability[] {
  // SECURITY: a prefix that is not in normal form would be compared wrongly for the life of the lease.
  if (!isNormalPath(workspace))
    throw new KernelError("WORKSPACE_REFUSED", "the workspace is not an absolute, real path");
  return [
    { kind: "fs_read", prefixes: [workspace] },
    { kind: "fs_write", prefixes: [workspace] },
    { kind: "exec", names: ["*"] },
    // The limits of a single call are set by its tool's declaration and by policy.
    { kind: "wasm_exec", maxFuel: BOUND_CEILINGS.maxFuel, maxMemoryBytes: BOUND_CEILINGS.maxMemoryBytes },
    { kind: "git", names: ["*"] },
    { kind: "db_read", names: ["*"] },
    { kind: "db_write", names: ["*"] },
    { kind: "artifact", names: ["*"] },
    { kind: "clock" },
    ...hostRights(hosts),
  ];
}

/** Rights to read from these hosts and to send to them; none for an empty list. */
export function hostRights(hosts: readonly HostPattern[]): Capability[] {
  return hosts.length === 0
    ? []
    : [
        { kind: "net_read", hosts },
        { kind: "net_write", hosts },
      ];
}
