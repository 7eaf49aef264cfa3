import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { createToolAnnouncement } from "../ledger/prepare-start-record.ts";
import type { PolicyFile } from "../policy/policy-file.ts";
import type { PolicyReloader } from "../policy/reload-policy.ts";
import type { Tool } from "../tool/tool.ts";
import { requireActivePolicy, activatePolicy } from "./activate-policy.ts";
import type { RegisteredTool } from "./registry.ts";

/** A tool to register in a running kernel. */
export interface ToolRegistration {
  readonly tool: Tool;
  /** Rules about the tool: the policy in force cannot refer to a tool that was not registered. */
  readonly policies: readonly PolicyFile[];
}

/**
 * Registers a tool while calls run: for sessions opened from then on, and for leases that name it. Throws
 * INVALID_DECLARATION, ALREADY_REGISTERED if any tool has that name, or POLICY_INVALID; nothing changes in these cases.
 *
 * INVARIANT: the tool's definition, and the rules validated against it, are durable before the first call of the tool
 * is decided. After the record is written nothing is awaited, so no call sees the tool without its rules.
 */
export async function registerTool(
  { tool, policies }: ToolRegistration,
  reloader: PolicyReloader,
  kernel: KernelParts,
): Promise<RegisteredTool> {
  // SECURITY: this copy is what is checked, recorded and registered.
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

/**
 * SECURITY: another version of the same name counts too; otherwise calls without a version would go to the new tool.
 */
function refuseTakenName(registered: RegisteredTool, { registry }: KernelParts): void {
  const taken = registry.list({ allVersions: true }).find(({ tool }) => tool.name === registered.tool.name);
  if (taken === undefined) return registry.requireRegistrable(registered);
  throw new KernelError("ALREADY_REGISTERED", `there is a tool \`${taken.id}\` already: give this one another name`);
}
