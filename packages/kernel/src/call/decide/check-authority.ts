import { canonicalJson, type RationaleCode } from "@narthex/contracts";
import type { Capability } from "../../capability/capability.ts";
import { capabilityToJson } from "../../capability/capability-to-json.ts";
import { missingCapabilities } from "../../capability/covers.ts";
import { describeMissing } from "../../capability/describe-capability.ts";
import { checkLease } from "../../lease/check-lease.ts";
import { lineageProblem } from "../../session/lineage.ts";
import { type BoundExcess, describeBoundExcess } from "../../tool/bound-excess.ts";
import type { SafetyTier } from "../../tool/tool.ts";
import { callReservation, timeoutFor } from "../call-reservation.ts";
import type { CheckedCall } from "../call.ts";
import { Denied } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";

export interface AuthorityRequirements {
  readonly tier: SafetyTier;
  readonly timeoutMs: number;
  readonly maxCpuMs?: number | undefined;
  readonly boundExcess?: BoundExcess;
  /** What the tool's declaration requires. */
  readonly required: readonly Capability[];
  /** What these exact arguments need. */
  readonly needed: readonly Capability[];
}

/** Checks what the session itself holds: lease, tier, capabilities and budget. Adds the CapabilityCheck entry. */
export function checkAuthority(
  call: CheckedCall,
  demand: AuthorityRequirements,
  kernel: KernelParts,
): Denied | undefined {
  const { live, trail, registered } = call;
  const nowMs = kernel.ledger.nowMs();
  const leaseCode =
    lineageProblem(live.parent, nowMs) ??
    checkLease(live.lease, { toolName: registered.tool.name, tier: demand.tier, nowMs });
  const missing = leaseCode === undefined ? missingCapabilities(live.lease.capabilities, demand) : [];
  const refused = leaseCode ?? (missing.length > 0 ? "CAPABILITY_MISSING" : demand.boundExcess && "BOUNDS_EXCEEDED");
  const shortfall = refused === undefined ? findShortfall(call, demand, kernel) : undefined;
  const code = refused ?? (shortfall && "BUDGET_EXCEEDED");
  trail.add({
    case: "capabilityCheck",
    value: {
      granted: code === undefined,
      leaseId: live.lease.id,
      required: texts([...demand.required, ...demand.needed]),
      missing: texts(missing),
      rationaleCode: code ?? "",
    },
  });
  if (code === undefined) return undefined;
  if (shortfall !== undefined) trail.add({ case: "budgetExceeded", value: { leaseId: live.lease.id, ...shortfall } });
  return new Denied(code, "kernel:decide", explain(code, call, demand, missing, shortfall));
}

interface Shortfall {
  readonly dimension: string;
  readonly asked: number;
  readonly remaining: number;
}

/** Checks the budget without reserving anything: `grant` makes the reservation, once for each call. */
function findShortfall(call: CheckedCall, demand: AuthorityRequirements, kernel: KernelParts): Shortfall | undefined {
  const { live, incoming, trail } = call;
  if (trail.reservation !== undefined) return undefined;
  const timeoutMs = timeoutFor(demand.timeoutMs, incoming.deadlineMs - kernel.clock.monotonicMs());
  const { maxCpuMs } = demand;
  return live.account.shortfall(...callReservation(call, { timeoutMs, maxCpuMs }));
}

function texts(capabilities: readonly Capability[]): string[] {
  return capabilities.map((capability) => canonicalJson(capabilityToJson(capability)));
}

function explain(
  code: RationaleCode,
  call: CheckedCall,
  demand: AuthorityRequirements,
  missing: readonly Capability[],
  shortfall: Shortfall | undefined,
): string {
  const { name } = call.registered.tool;
  const tool = `\`${name}\``;
  if (code === "BOUNDS_EXCEEDED" && demand.boundExcess !== undefined)
    return describeBoundExcess(name, demand.boundExcess);
  switch (code) {
    case "LEASE_SCOPE":
      return `the session's lease does not cover ${tool}`;
    case "LEASE_EXPIRED":
      return "the session's lease, or one that it came from, is not valid at this time";
    case "LEASE_REVOKED":
      return "the session's lease, or one that it came from, was revoked";
    case "TIER_NOT_ALLOWED":
      return `${tool} is ${demand.tier} here; the lease allows at most ${call.live.lease.highestTier}`;
    case "CAPABILITY_MISSING":
      return `the lease lacks ${describeMissing(missing).join(", ")}`;
    default:
      return `the budget of ${shortfall?.dimension} has ${shortfall?.remaining} left; the call may need ${shortfall?.asked}`;
  }
}
