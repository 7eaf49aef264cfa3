import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { createToolRemoval } from "../ledger/prepare-start-record.ts";
import type { PolicyReloader } from "../policy/reload-policy.ts";
import { printable } from "../schema/printable.ts";
import { requireActivePolicy, activatePolicy } from "./activate-policy.ts";

/**
 * Unregisters a tool that was registered while the kernel runs, with the rules that came with it. Running calls finish;
 * later ones get TOOL_NOT_FOUND. Throws TOOL_NOT_FOUND for any other name, or POLICY_INVALID if other rules refer to
 * the tool; nothing changes in these cases.
 */
export async function unregisterTool(name: string, reloader: PolicyReloader, kernel: KernelParts): Promise<void> {
  return reloader.runExclusive(async () => {
    const registered = kernel.registry.list({ allVersions: true }).find(({ tool }) => tool.name === name);
    if (registered === undefined || !kernel.runtimeTools.has(name)) {
      throw new KernelError("TOOL_NOT_FOUND", `no tool \`${printable(name)}\` was registered while the kernel runs`);
    }
    const { set, source } = requireActivePolicy(kernel);
    const next = await source.loadWithoutTool(set, registered.tool);
    await activatePolicy(next, { why: `unregistering ${registered.id}`, ...createToolRemoval(registered) }, kernel);
    kernel.registry.remove(name);
    kernel.runtimeTools.delete(name);
  });
}
