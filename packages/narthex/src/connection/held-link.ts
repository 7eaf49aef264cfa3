import { isKernelError } from "@narthex/contracts";
import { createSessionCaller } from "@narthex/server";
import { type OpenKernelOptions, openKernel } from "../open-kernel.ts";
import type { KernelLink } from "./kernel-link.ts";
import { createLocalConnection } from "./local-connection.ts";
import { sessionStateIn } from "./session-state.ts";
import { createToolWatch } from "./tool-watch.ts";

/** Takes the home and is its kernel, with its sockets open to others. Throws HOME_BUSY if somebody else holds it. */
export async function holdKernel(options: OpenKernelOptions & { readonly command: string }): Promise<KernelLink> {
  const kernel = await openKernel(options);
  try {
    if (kernel.prepared.length > 0) options.log?.("info", "set up a new home", { home: kernel.home.path });
    await kernel.openDoors();
  } catch (error) {
    await kernel.close();
    throw error;
  }
  const connection = createLocalConnection(kernel);
  const closing = new AbortController();
  const tools = createToolWatch((query) => connection.tailRecords(query), closing.signal);
  void tools.ended;
  return {
    holder: options.command,
    elicitation: kernel.configuration.mcp.elicitation === "approvals",
    // It goes when this process does, and never before.
    going: new AbortController().signal,
    isGoing: () => Promise.resolve(false),
    answersWithin: () => Promise.resolve(true),
    async openSession(request) {
      const { session, token } = await connection.openSession(request);
      return { sessionId: session.sessionId, token };
    },
    sessionState: (sessionId) => sessionStateIn(connection, sessionId),
    closeSession: async (sessionId) => void (await connection.closeSession(sessionId)),
    async createCaller(session) {
      await kernel.authenticate(session.token).catch(requireEnded);
      return createSessionCaller(kernel, session);
    },
    onToolsChanged: tools.listen,
    async close() {
      closing.abort();
      await kernel.close();
    },
  };
}

/** One that has ended is no obstacle: its calls are answered so. */
function requireEnded(fault: unknown): void {
  if (!isKernelError(fault) || !fault.code.startsWith("SESSION_")) throw fault;
}
