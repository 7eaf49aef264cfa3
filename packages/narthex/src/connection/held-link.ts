import { isKernelError } from "@narthex/contracts";
import { createSessionCaller } from "@narthex/server";
import { type OpenKernelOptions, openKernel } from "../open-kernel.ts";
import type { KernelLink } from "./kernel-link.ts";
import { createLocalConnection } from "./local-connection.ts";
import { sessionStateIn } from "./session-state.ts";
import { createToolWatch } from "./tool-watch.ts";

type HoldKernelOptions = Omit<OpenKernelOptions, "onFailure"> & { readonly command: string };

/** Takes the home and is its kernel, with its sockets open to others. Throws HOME_BUSY if somebody else holds it. */
export async function holdKernel(options: HoldKernelOptions): Promise<KernelLink> {
  // It goes when this process does, and before that only if its store fails.
  const going = new AbortController();
  const kernel = await openKernel({ ...options, onFailure: () => going.abort() });
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
  let closed: Promise<void> | undefined;

  function close(): Promise<void> {
    closing.abort();
    // What a failed store cannot record is not waited for: others need the home.
    closed ??= kernel.close(going.signal.aborted ? { graceMs: 0 } : {});
    return closed;
  }

  function letGo(): void {
    close().catch((fault: unknown) => {
      options.log?.("error", "the home could not be let go of", { error: fault instanceof Error ? fault.message : "" });
    });
  }

  going.signal.addEventListener("abort", letGo, { once: true });
  if (going.signal.aborted) letGo();
  return {
    holder: options.command,
    elicitation: kernel.configuration.mcp.elicitation === "approvals",
    going: going.signal,
    isGoing: () => Promise.resolve(going.signal.aborted),
    silence: () => Promise.resolve(undefined),
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
    close,
  };
}

/** One that has ended is no obstacle: its calls are answered so. */
function requireEnded(fault: unknown): void {
  if (!isKernelError(fault) || !fault.code.startsWith("SESSION_")) throw fault;
}
