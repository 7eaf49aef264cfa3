export { isKernelError, type JsonValue, KernelError } from "@narthex/contracts";
export {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type Approver,
  type CallResult,
  type Capability,
  defineTool,
  type Kernel,
  type LeaseRequest,
  type OpenSessionOptions,
  type Tool,
  type ToolContext,
} from "@narthex/kernel";
export { serve } from "@narthex/server";
export { verifyLedger } from "@narthex/verify";
export { createKernel, type KernelSession, type NarthexKernel, type SessionCallOptions } from "./create-kernel.ts";
export type { OpenKernelOptions } from "./open-kernel.ts";
