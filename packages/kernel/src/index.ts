export type { ApprovalAnswer, ApprovalQuestion } from "./approval/approval.ts";
export {
  BUDGET_DIMENSIONS,
  type BudgetAmounts,
  type BudgetDimension,
  type BudgetLimits,
} from "./budget/budget.ts";
export type * from "./capability/capability.ts";
export { capabilityToJson } from "./capability/capability-to-json.ts";
export { createJsonReader, joinField, type JsonReader, ownField } from "./capability/json-reader.ts";
export { readCapability } from "./capability/parse-capability.ts";
export type * from "./kernel.ts";
export type { HostExamination, KernelOptions, KernelSettings, ToolReadiness } from "./kernel-options.ts";
export type { Lease, LeaseRequest } from "./lease/lease.ts";
export { leaseToJson } from "./lease/lease-to-json.ts";
export { parseLeaseRequest } from "./lease/parse-lease-request.ts";
export * from "./bundled-programs.ts";
export type * from "./contained-programs.ts";
export * from "./session-shells.ts";
export type { ContentDraft, EntryDraft } from "./ledger/record-draft.ts";
export { createAllowListPolicy } from "./policy/allow-list-policy.ts";
export type * from "./policy/policy.ts";
export * from "./ports.ts";
export type { OpenSessionOptions, Session, SessionState } from "./session/session.ts";
export { startKernel } from "./start-kernel.ts";
export { defineTool } from "./tool/define-tool.ts";
export { definitionHash } from "./tool/definition-hash.ts";
export { checkDeclaration } from "./tool/inspect-declaration.ts";
export * from "./tool/tool.ts";
export type * from "./vault.ts";
export type * from "./workspace-files.ts";
