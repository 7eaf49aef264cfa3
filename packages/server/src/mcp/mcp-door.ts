import type { NodeRequest, NodeResponse } from "../service/http-listener.ts";
import type { McpHttpLimits } from "./mcp-http-limits.ts";
import type { McpToolSet } from "./offered-tools.ts";

/** What whoever serves MCP may choose. */
export interface McpServingOptions {
  /** Of the kernel; shown to clients. */
  readonly version: string;
  /** For models, instead of the instructions that follow from the tools. */
  readonly instructions?: string;
  /** How long a call waits for a person, for the instructions. */
  readonly approvalWaitMs?: number;
  /** Whether clients that can are asked for approvals. SECURITY: off unless the configuration says otherwise. */
  readonly elicitation?: boolean;
  /** Which tools are listed; `coding` by default. */
  readonly toolSet?: McpToolSet;
}

export interface McpHttpServingOptions extends McpServingOptions {
  readonly limits?: Partial<McpHttpLimits>;
}

/** MCP by Streamable HTTP, in the current and the previous revision, for whoever holds a session's token. */
export interface McpHttp {
  serve(request: NodeRequest, response: NodeResponse, signal: AbortSignal): void;
  /** Ends streams that only wait; running calls go on. */
  stop(): void;
  close(): Promise<void>;
}
