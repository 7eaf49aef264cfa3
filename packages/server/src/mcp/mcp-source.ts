import type { Kernel } from "@narthex/kernel";
import { createKernelCaller, MCP_DOOR, type McpCaller } from "./mcp-caller.ts";
import { CHANGES_CHAIN, watchToolChanges } from "./tool-changes.ts";

/**
 * Tells whenever the list of tools of any session may have changed. Resolves when no more can be heard: by the signal, or
 * without a kernel.
 */
export type WatchTools = (onChange: () => void, signal: AbortSignal) => Promise<void>;

/** The sessions whose tokens a door takes, wherever their kernel is. */
export interface McpSource {
  /** The id of the session that a token proves; throws SESSION_* for a token of none. */
  authenticate(token: string): Promise<string>;
  /** Throws SESSION_* if that session has ended. */
  requireOpen(token: string): Promise<void>;
  createCaller(token: string): Promise<McpCaller>;
  readonly watchTools: WatchTools;
  refuse(reason: string, bytes?: Uint8Array): void;
}

/** Every session of a kernel in this process. */
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
