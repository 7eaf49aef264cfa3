export {
  type AgentEnd,
  type AgentEvent,
  type AgentLimits,
  type AgentMessage,
  type AgentOptions,
  type AgentResult,
  type AgentSession,
  anthropicModel,
  type CallDelta,
  createAgentSession,
  declareTools,
  type FunctionDecl,
  geminiModel,
  type Integer,
  type ModelClient,
  type ModelEvent,
  type ModelRequest,
  narthexTools,
  openaiModel,
  openaiResponsesModel,
  openTranscriptFile,
  readAiSdk,
  readAnthropic,
  readGemini,
  readOpenaiChat,
  readOpenaiResponses,
  runAgent,
  type SessionCallOptions,
  type StreamedCall,
  toAiSdkTools,
  toAnthropicTools,
  toGeminiTools,
  toMcpTools,
  toOpenaiChatTools,
  toOpenaiResponsesTools,
  ToolCallAccumulator,
  type Transcript,
  type TranscriptEntry,
  type TranscriptFile,
} from "@narthex/agent";
export { isKernelError, type JsonValue, KernelError } from "@narthex/contracts";
export {
  type ApprovalDecision,
  type ApprovalRequest,
  type Approver,
  type CallDenied,
  type CallFailed,
  type CallResult,
  type CallSucceeded,
  type Capability,
  type DefinedTool,
  defineTool,
  type Kernel,
  type LeaseRequest,
  type OpenSessionOptions,
  type StandardSchema,
  type Tool,
  type ToolContext,
  type ToolFacts,
} from "@narthex/kernel";
export { serve } from "./serve-kernel.ts";
export { verifyLedger } from "./verify-ledger.ts";
export { createKernel, type CreateKernelOptions, type NarthexKernel } from "./create-kernel.ts";
export type { KernelSession, SessionDelegation, ToolInput, ToolName, ToolValue } from "./kernel-session.ts";
export type { KernelTools, RegisterOptions } from "./kernel-tools.ts";
export type { DecodedEntry, DecodedRecord, EntryKind, RecordedCall } from "./ledger/decoded-record.ts";
export type { FollowOptions, LedgerPage, LedgerQuery, LedgerReader } from "./ledger/ledger-reader.ts";
export type { OpenKernelOptions } from "./open-kernel.ts";
