import type { CapabilityKind } from "../capability/capability.ts";
import { coveredByAny, missingCapabilities } from "../capability/covers.ts";
import type { ToolFacts } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { leaseAllowsTool } from "../lease/check-lease.ts";
import type { Lease } from "../lease/lease.ts";
import { tierWithin } from "../lease/tier.ts";
import { lineageProblem } from "../session/lineage.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { Tool } from "../tool/tool.ts";
import type { RegisteredTool } from "./registry.ts";

/** Lists every tool or, for a session, those that its lease and the policy could permit. */
export function listTools(
  query: { readonly sessionId?: string; readonly allVersions: boolean },
  kernel: KernelParts,
): ToolFacts[] {
  const tools = kernel.registry.list({ allVersions: query.allVersions });
  const live = query.sessionId === undefined ? undefined : kernel.sessions.inMemory(query.sessionId);
  const isValid = live !== undefined && lineageProblem(live, kernel.ledger.nowMs()) === undefined;
  const shown =
    query.sessionId === undefined ? tools : tools.filter((tool) => isValid && couldCall(tool, live, kernel));
  return shown.map((registered) => toolFacts(registered, kernel));
}

export function toolFacts({ tool, definitionHash, state }: RegisteredTool, kernel: KernelParts): ToolFacts {
  const found = state === "ready" ? kernel.host.stateOf(tool) : { state, reason: "" };
  return {
    declaration: tool,
    definitionHash,
    ...found,
    viewBytes: kernel.viewBytesOf(tool),
    anyCase: tool.anyCase ?? [],
  };
}

function couldCall(registered: RegisteredTool, live: LiveSession, kernel: KernelParts): boolean {
  const { tool } = registered;
  const { lease } = live;
  if (!leaseAllowsTool(lease, tool.name) || "problem" in kernel.policy.current) return false;
  // A tool with `narrow` may need less for some inputs; any other tool needs everything that it declares.
  if (tool.narrow === undefined) {
    if (!tierWithin(tool.tier, lease.highestTier)) return false;
    if (missingCapabilities(lease.capabilities, { required: tool.capabilities, needed: [] }).length > 0) return false;
  } else if (tool.needsAnyOf !== undefined && !holdsAnyOf(tool.needsAnyOf, tool, lease)) {
    return false;
  }
  // In observe mode, calls that rules refuse are still carried out.
  if (kernel.policyMode === "observe") return true;
  return (tool.actions ?? [tool.name]).some((action) => kernel.policy.couldPermit(action));
}

function holdsAnyOf(kinds: readonly CapabilityKind[], { capabilities }: Tool, lease: Lease): boolean {
  return capabilities
    .filter(({ kind }) => kinds.includes(kind))
    .some((capability) => coveredByAny(lease.capabilities, capability));
}
