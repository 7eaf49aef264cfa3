import type { Kernel } from "@narthex/kernel";
import { createKernelCaller, MCP_DOOR, type McpCaller } from "./mcp-caller.ts";
import { CHANGES_CHAIN, watchToolChanges } from "./tool-changes.ts";

/** The sessions whose tokens a door takes, wherever their kernel is. */
export interface McpSource {
  /** The id of the open session that a token proves; throws SESSION_* for any other. */
  authenticate(token: string): Promise<string>;
  createCaller(token: string): Promise<McpCaller>;
  /** As a caller's own, for all sessions at once. */
  watchTools: McpCaller["watchTools"];
  refuse(reason: string, bytes?: Uint8Array): void;
}

/** Every session of a kernel in this process. */
export function createKernelSource(kernel: Kernel): McpSource {
  return {
    authenticate: async (token) => (await kernel.authenticate(token)).session.id,
    createCaller: (token) => createKernelCaller(kernel, token),
    watchTools: (told, signal) => watchToolChanges(kernel.tailRecords({ chain: CHANGES_CHAIN, signal }), told),
    refuse: (reason, bytes) => kernel.refuse({ door: MCP_DOOR, reason, ...(bytes && { bytes }) }),
  };
}
