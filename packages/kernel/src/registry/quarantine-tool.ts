import type { KernelParts } from "../kernel-parts.ts";
import type { ToolChange } from "../kernel-options.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { describeFault } from "../result/describe-fault.ts";

/** Quarantines a tool at once, and records it. Running calls are not cancelled; the tool itself must refuse them. */
export function quarantineTool({ name, version, foundHash }: ToolChange, kernel: KernelParts): void {
  const { definitionHash, state } = kernel.registry.resolve(name, version) ?? {};
  if (definitionHash === undefined || state === "quarantined") return;
  kernel.registry.quarantine(name, version, foundHash);
  const value = { toolName: name, toolVersion: version, definitionHash, foundHash };
  kernel.ledger
    .append({ chain: SYSTEM_CHAIN, entries: [{ case: "toolQuarantined", value }], state: [] })
    .catch((fault: unknown) => {
      kernel.logger("error", "a quarantined tool could not be recorded", { tool: name, cause: describeFault(fault) });
    });
}
