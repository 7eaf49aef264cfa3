import { KernelError } from "@narthex/contracts";
import {
  type Approver,
  checkOptions,
  type Observer,
  type OptionKinds,
  refuseUnknownParts,
  type Tool,
} from "@narthex/kernel";
import type { OpenKernelOptions } from "./open-kernel.ts";

const KINDS: OptionKinds<OpenKernelOptions> = {
  data: "text?",
  waitMs: "amount?",
  command: "text?",
  onDemand: "flag?",
  isBrief: "flag?",
  tools: "list?",
  policies: "list?",
  approver: "object?",
  sandboxPrograms: "texts?",
  observer: "object?",
  log: "function?",
  ownCode: "text?",
  onPolicyWarning: "function?",
  onFailure: "function?",
};
const POLICY: OptionKinds<NonNullable<OpenKernelOptions["policies"]>[number]> = { name: "text", text: "text" };
const APPROVER: OptionKinds<Approver> = { door: "text?", ask: "function" };
const OBSERVER: OptionKinds<Observer> = { stage: "function" };

/** Validates the options before anything is opened. Throws INVALID_INPUT, or INVALID_DECLARATION for a tool. */
export function checkKernelOptions(options: OpenKernelOptions): void {
  checkOptions(options, KINDS, "createKernel");
  const { tools = [], policies = [], approver, observer, ownCode = "warn" } = options;
  if (!["refuse", "warn", "allow"].includes(ownCode)) {
    throw new KernelError("INVALID_INPUT", "`ownCode` must be refuse, warn or allow");
  }
  for (const tool of tools) requireTool(tool);
  for (const policy of policies) checkOptions(policy, POLICY, "a policy");
  // Approvers may be class instances with further members, so only these members are checked.
  if (approver !== undefined) checkOptions({ door: approver.door, ask: approver.ask }, APPROVER, "an approver");
  if (observer !== undefined) checkOptions({ stage: observer.stage }, OBSERVER, "an observer");
}

/** Everything else about the tool is checked at registration. */
function requireTool(tool: Tool): void {
  refuseUnknownParts(tool);
  if (Array.isArray(tool.effects) && Array.isArray(tool.capabilities)) return;
  throw new KernelError("INVALID_DECLARATION", "a tool lacks its effects or its capabilities: make it with defineTool");
}
