import {
  create,
  createId,
  type JsonObject,
  type ToolInfo,
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
  utf8,
} from "@narthex/contracts";
import type { Kernel } from "@narthex/kernel";
import type { FramedClient } from "../framed/framed-client.ts";
import { toToolInfo } from "../service/tool-info.ts";

/** How an MCP server reaches its kernel: in this process or over a socket. */
export interface McpCaller {
  /** The tools that the session could be allowed to call. */
  listTools(): Promise<readonly ToolInfo[]>;
  call(name: string, input: JsonObject, options: McpCallOptions): Promise<ToolResponse>;
  /** A message that could not be read, with a reason from a closed set. */
  refuse(reason: string, bytes: Uint8Array): void;
}

export interface McpCallOptions {
  readonly signal: AbortSignal;
  readonly onChunk?: (chunk: Uint8Array) => void | Promise<void>;
}

const DOOR = "mcp";

/** A session of a kernel in this process. */
export async function createKernelCaller(kernel: Kernel, token: string): Promise<McpCaller> {
  const { session } = await kernel.authenticate(token);
  return {
    listTools: () => Promise.resolve(kernel.listTools({ sessionId: session.id, allVersions: false }).map(toToolInfo)),
    call: (name, input, options) => kernel.call({ request: toRequest(token, name, input), door: DOOR, ...options }),
    refuse: (reason, bytes) => kernel.refuse({ door: DOOR, reason, bytes }),
  };
}

/** A session of a running kernel, over its framed socket. Output is not delivered while a tool runs. */
export function createFramedCaller(
  client: FramedClient,
  token: string,
  listTools: () => Promise<readonly ToolInfo[]>,
): McpCaller {
  return {
    listTools,
    call: (name, input, { signal }) => client.call(toRequest(token, name, input), { signal }),
    refuse: () => undefined,
  };
}

function toRequest(token: string, name: string, input: JsonObject): ToolRequest {
  const requestId = createId("req", (length) => crypto.getRandomValues(new Uint8Array(length)));
  const value = { name, input: utf8(JSON.stringify(input)) };
  return create(ToolRequestSchema, { requestId, sessionToken: token, tool: { case: "call", value } });
}
