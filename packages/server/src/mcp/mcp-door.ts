import type { NodeRequest, NodeResponse } from "../service/http-listener.ts";
import type { McpHttpLimits } from "./mcp-http-limits.ts";
import type { McpToolSet } from "./offered-tools.ts";

/** Options of every MCP server. */
export interface McpServingOptions {
  /** Version of the kernel; shown to clients. */
  readonly version: string;
  /** Text for models, in place of the instructions that are derived from the tools. */
  readonly instructions?: string;
  /** How long a call waits for an approval, for the instructions. */
  readonly approvalWaitMs?: number;
  /** Whether clients that can show forms are asked for approvals. SECURITY: off unless the configuration enables it. */
  readonly elicitation?: boolean;
  /** Which tools are listed; `coding` by default. */
  readonly toolSet?: McpToolSet;
}

export interface McpHttpServingOptions extends McpServingOptions {
  readonly limits?: Partial<McpHttpLimits>;
}

/** MCP by Streamable HTTP, in the current and the previous revision, for clients that hold a session's token. */
export interface McpHttp {
  serve(request: NodeRequest, response: NodeResponse, signal: AbortSignal): void;
  /** Ends streams that only wait; running calls continue. */
  stop(): void;
  close(): Promise<void>;
}
