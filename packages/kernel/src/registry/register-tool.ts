import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { createToolAnnouncement } from "../ledger/prepare-start-record.ts";
import type { PolicyFile } from "../policy/policy-file.ts";
import type { PolicyReloader } from "../policy/reload-policy.ts";
import type { Tool } from "../tool/tool.ts";
import { requireActivePolicy, activatePolicy } from "./activate-policy.ts";
import type { RegisteredTool } from "./registry.ts";

/** A tool for a kernel that runs. */
export interface ToolRegistration {
  readonly tool: Tool;
  /** Rules about it: those that are in force cannot name a tool that was not there. */
  readonly policies: readonly PolicyFile[];
}

/**
 * Registers a tool while calls run: for sessions that are opened from then on, and for leases that name it. Throws
 * INVALID_DECLARATION, ALREADY_REGISTERED for a name that any tool has, or POLICY_INVALID; nothing is changed then.
 *
 * INVARIANT: its definition, and the rules as they were checked against it, are durable before the first call of it is
 * decided. From the record on nothing is awaited, so that no call sees the tool without its rules.
 */
export async function registerTool(
  { tool, policies }: ToolRegistration,
  reloader: PolicyReloader,
  kernel: KernelParts,
): Promise<RegisteredTool> {
  // SECURITY: what is checked, recorded and registered is this copy.
  const registered = kernel.registry.prepare(tool);
  return reloader.runExclusive(async () => {
    refuseTakenName(registered, kernel);
    const { set, source } = requireActivePolicy(kernel);
    const next = await source.loadWithTool(set, registered.tool, policies);
    const definition = await createToolAnnouncement(registered, kernel);
    await activatePolicy(next, { why: `registering ${registered.id}`, ...definition }, kernel);
    kernel.registry.add(registered);
    kernel.runtimeTools.add(registered.tool.name);
    return registered;
  });
}

/** SECURITY: also one of another version, or calls that leave the version out would go to the new tool. */
function refuseTakenName(registered: RegisteredTool, { registry }: KernelParts): void {
  const taken = registry.list({ allVersions: true }).find(({ tool }) => tool.name === registered.tool.name);
  if (taken === undefined) return registry.requireRegistrable(registered);
  throw new KernelError("ALREADY_REGISTERED", `there is a tool \`${taken.id}\` already: give this one another name`);
}
