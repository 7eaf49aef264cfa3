import type { Kernel } from "@narthex/kernel";
import { createKernelCaller, MCP_DOOR, type McpCaller } from "./mcp-caller.ts";
import { CHANGES_CHAIN, watchToolChanges } from "./tool-changes.ts";

/**
 * Calls back whenever the list of tools of any session may have changed. Resolves when there will be no more changes:
 * after an abort, or without a kernel.
 */
export type WatchTools = (onChange: () => void, signal: AbortSignal) => Promise<void>;

/** The sessions whose tokens a door accepts, wherever their kernel is. */
export interface McpSource {
  /** Returns the id of the session that a token authenticates; throws SESSION_* for any other token. */
  authenticate(token: string): Promise<string>;
  /** Throws SESSION_* if that session has ended. */
  requireOpen(token: string): Promise<void>;
  createCaller(token: string): Promise<McpCaller>;
  readonly watchTools: WatchTools;
  refuse(reason: string, bytes?: Uint8Array): void;
}

/** Serves every session of a kernel in this process. */
export function createKernelSource(kernel: Kernel): McpSource {
  return {
    authenticate: async (token) => (await kernel.authenticate(token)).session.id,
    requireOpen: async (token) => void (await kernel.authenticate(token)),
    createCaller: (token) => createKernelCaller(kernel, token),
    async watchTools(told, signal) {
      const stopListening = kernel.onLeaseEnded(told);
      try {
        await watchToolChanges(kernel.tailRecords({ chain: CHANGES_CHAIN, signal }), told);
      } finally {
        stopListening();
      }
    },
    refuse: (reason, bytes) => kernel.refuse({ door: MCP_DOOR, reason, ...(bytes && { bytes }) }),
  };
}
