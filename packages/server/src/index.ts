export { type ByteBudget, createByteBudget, DEFAULT_BYTES_IN_FLIGHT } from "./byte-budget.ts";
export { connectFramed, type FramedClient } from "./framed/framed-client.ts";
export { type FramedDoor, type FramedDoorOptions, openFramedDoor } from "./framed/framed-door.ts";
export { DEFAULT_FRAMED_LIMITS, type FramedLimits } from "./framed/framed-limits.ts";
export {
  createSessionCaller,
  type McpApprovalRequest,
  type McpApprovals,
  type McpCall,
  type McpCaller,
  type McpCallOptions,
  toCallRequest,
  toCancelRequest,
} from "./mcp/mcp-caller.ts";
export { type McpDoor, openMcpDoor } from "./mcp/open-mcp-door.ts";
export { CHANGES_CHAIN, watchToolChanges } from "./mcp/tool-changes.ts";
export type { McpSource, WatchTools } from "./mcp/mcp-source.ts";
export { type McpStdioDoor, type McpStdioOptions, serveMcpStdio } from "./mcp/serve-mcp-stdio.ts";
export { type ServeOptions, type Serving, serve } from "./serve.ts";
export type { Authorize, TokenScope } from "./service/token-scope.ts";
export { toConnectCode, toConnectError, toKernelError } from "./service/connect-error.ts";
export type { TlsIdentity } from "./service/http-listener.ts";
export {
  openServiceDoor,
  type ServiceDoor,
  type ServiceDoorOptions,
  type ServiceListen,
} from "./service/service-door.ts";
export { DEFAULT_SERVICE_LIMITS, type ServiceLimits } from "./service/service-limits.ts";
export type { KernelProcess } from "./service/process-methods.ts";
export { createSessionAttendance, type SessionAttendance } from "./service/session-attendance.ts";
export { toSessionInfo } from "./service/session-info.ts";
export { toToolInfo } from "./service/tool-info.ts";
export type { ExportLedger } from "./service/export-stream.ts";
export type { Replay, ReplaySelection, ReplayEvent } from "./service/replay-stream.ts";
export type { Verify, VerifyProgressFacts } from "./service/verify-stream.ts";
