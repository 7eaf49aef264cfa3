import { KernelError, type Violation } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetAmounts, type BudgetLimits } from "../budget/budget.ts";
import type { Capability, HostPattern } from "../capability/capability.ts";
import { describeCapability } from "../capability/describe-capability.ts";
import { createJsonReader, type JsonReader } from "../capability/json-reader.ts";
import { quoteText } from "../capability/quote-text.ts";
import {
  findExceedingCapabilities,
  type LeaseDimension,
  exceededDimensions,
  findExceedingPatterns,
} from "./is-lease-subset.ts";
import type { DelegableRights, Lease, LeaseRequest } from "./lease.ts";
import { checkLeaseRequest } from "./parse-lease-request.ts";
import { expandToolPatterns } from "./tool-pattern.ts";

export interface LeaseDelegation {
  readonly id: string;
  /** Session that will hold the lease. */
  readonly holder: string;
  readonly parent: Lease;
  /** The parent's remaining budgets at this moment. */
  readonly remaining: BudgetAmounts;
  readonly request: LeaseRequest;
  /** Lifetime if the request does not state one; if undefined too, the lease expires with its parent. */
  readonly ttlMs: number | undefined;
  readonly nowMs: number;
  /** Names of the tools that are ready. */
  readonly knownTools: readonly string[];
}

/**
 * Creates a child lease. Fields that the request omits get what the parent may delegate, its remaining budgets and its
 * expiry. `delegable`, if omitted, equals the child's own rights.
 *
 * Throws LEASE_INVALID with everything in which the child would exceed its parent.
 */
export function createDelegatedLease(delegation: LeaseDelegation): Lease {
  const { parent, remaining, nowMs } = delegation;
  // A request from code in this process is checked and normalized like one from outside.
  const request = checkLeaseRequest(delegation.request);
  const usable = rightsOf(request, parent.delegable, delegation.knownTools);
  const notBeforeMs = request.not_before_ms ?? Math.max(nowMs, parent.notBeforeMs);
  const ttlMs = request.ttl_ms ?? delegation.ttlMs;
  const lease: Lease = {
    id: delegation.id,
    parentId: parent.id,
    holder: delegation.holder,
    ...usable,
    budgets: { ...remaining, ...request.budgets },
    notBeforeMs,
    expiresAtMs: ttlMs === undefined ? parent.expiresAtMs : Math.max(nowMs, notBeforeMs) + ttlMs,
    delegable: request.delegable === undefined ? usable : rightsOf(request.delegable, usable, delegation.knownTools),
    revoked: false,
  };
  const reader = createJsonReader();
  checkSize(reader, lease, parent);
  if (reader.violations.length === 0) checkSubset(reader, lease, parent, remaining);
  if (reader.violations.length === 0) return lease;
  throw exceedsParent(reader.violations);
}

/** The requested rights; an omitted one is the same list object as in the wider rights. */
function rightsOf(
  request: NonNullable<LeaseRequest["delegable"]>,
  wider: DelegableRights,
  knownTools: readonly string[],
): DelegableRights {
  const { tool_patterns, capabilities, highest_tier } = request;
  return {
    toolPatterns: tool_patterns === undefined ? wider.toolPatterns : expandToolPatterns(tool_patterns, knownTools),
    capabilities: capabilities ?? wider.capabilities,
    highestTier: highest_tier ?? wider.highestTier,
  };
}

/** Maximum number of patterns, and of paths, hosts, names and models together. */
const MAX_PARTS = 1000;

/**
 * SECURITY: every part of a child lease is compared with every part of its parent. Without a limit, an agent that
 * requests long lists could block the calls of all other clients.
 */
function checkSize(reader: JsonReader, lease: Lease, parent: Lease): void {
  const known = new Set<unknown>([parent.delegable.toolPatterns, parent.delegable.capabilities]);
  for (const [field, rights] of [
    ["", lease],
    ["delegable.", lease.delegable],
  ] as const) {
    const { toolPatterns, capabilities } = rights;
    if (!known.has(toolPatterns) && toolPatterns.length > MAX_PARTS) {
      reader.refuse(`${field}tool_patterns`, "max_items", `a delegated lease names at most ${MAX_PARTS} of its own`);
    }
    if (!known.has(capabilities) && partCount(capabilities) > MAX_PARTS) {
      reader.refuse(
        `${field}capabilities`,
        "max_items",
        `a delegated lease names at most ${MAX_PARTS} parts of its own`,
      );
    }
  }
}

function partCount(capabilities: readonly Capability[]): number {
  const parts = capabilities.flatMap((capability) =>
    "hosts" in capability ? capability.hosts : Object.values(capability),
  );
  return parts.reduce<number>((count, part) => count + lengthOf(part), 0);
}

function lengthOf(part: HostPattern | string | number | readonly unknown[]): number {
  if (Array.isArray(part)) return part.length;
  return typeof part === "object" && "ports" in part ? 1 + (part.ports?.length ?? 0) : 1;
}

function checkSubset(reader: JsonReader, lease: Lease, parent: Lease, remaining: BudgetAmounts): void {
  for (const dimension of exceededDimensions(lease, parent)) {
    // Budgets are checked against the remaining amounts, which never exceed the limits.
    if (dimension !== "budgets") reader.refuse(dimension, "range", describeExcess(dimension, lease, parent));
  }
  checkBudgets(reader, lease.budgets, remaining);
  if (lease.expiresAtMs <= lease.notBeforeMs) {
    reader.refuse("not_before_ms", "range", "is not before the lease's end, so it would never be valid");
  }
}

function checkBudgets(reader: JsonReader, budgets: BudgetLimits, remaining: BudgetAmounts): void {
  for (const dimension of BUDGET_DIMENSIONS) {
    const left = remaining[dimension];
    const asked = budgets[dimension];
    if (left === undefined || (asked !== undefined && asked <= left)) continue;
    reader.refuse(`budgets.${dimension}`, "range", `asks for ${asked}; the parent has ${left} left`);
  }
}

function describeExcess(dimension: LeaseDimension, lease: Lease, parent: Lease): string {
  const { delegable } = parent;
  switch (dimension) {
    case "tool_patterns":
      return `the parent does not delegate ${listed(findExceedingPatterns(lease, delegable).map(quoteText))}`;
    case "capabilities":
      return `the parent does not delegate ${listed(findExceedingCapabilities(lease, delegable).map(describeCapability))}`;
    case "highest_tier":
      return `is ${lease.highestTier}; the parent delegates at most ${delegable.highestTier}`;
    case "not_before_ms":
      return "begins before the parent's lease does";
    case "expires_at_ms":
      return "ends after the parent's lease does";
    default:
      return "would let the child hand on more than the parent may delegate";
  }
}

const MAX_LISTED = 5;
const MAX_TEXT = 200;

function listed(texts: readonly string[]): string {
  const more = texts.length > MAX_LISTED ? ` and ${texts.length - MAX_LISTED} more` : "";
  const shown = texts
    .slice(0, MAX_LISTED)
    .map((text) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text));
  return shown.join(", ") + more;
}

function exceedsParent(violations: readonly Violation[]): KernelError {
  const named = violations.map(({ field, message }) => `\`${field}\` ${message}`).join("; ");
  return new KernelError("LEASE_INVALID", `the lease reaches beyond its parent: ${named}`, { violations });
}
