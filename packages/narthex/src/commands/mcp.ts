import { connectFramed, createFramedCaller, createKernelCaller, type McpCaller, serveMcpStdio } from "@narthex/server";
import type { SessionToOpen } from "../connection/kernel-connection.ts";
import { findSockets } from "../connection/kernel-files.ts";
import { createLocalConnection } from "../connection/local-connection.ts";
import { reachKernel, tryServicesConnection } from "../connection/open-connection.ts";
import { type OpenKernelOptions, openKernel } from "../open-kernel.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { createLineLog } from "../terminal/log-lines.ts";
import { reportError } from "../terminal/report-error.ts";
import { VERSION } from "../version.ts";
import type { Command, Invocation } from "./command.ts";
import { readSessionOptions, SESSION_OPTIONS } from "./session-options.ts";

/** A session of its own, wherever its kernel is. */
interface McpSession {
  readonly caller: McpCaller;
  /** Closes the session and lets go of the kernel. */
  close(): Promise<void>;
}

export const mcpCommand: Command = {
  details:
    "Opens a session for as long as the client stays. Where a kernel holds the home, calls go through it; else this command " +
    "is the kernel meanwhile, and others find it. Nothing but the protocol is written on the output stream.",
  options: SESSION_OPTIONS,
  examples: ["narthex mcp --workspace ~/project --agent claude"],

  async run(invocation) {
    // SECURITY: the client parses the output stream, so not even a JSON error may go there.
    const terminal = { ...invocation.terminal, json: false };
    try {
      return await serveClient({ ...invocation, terminal });
    } catch (error) {
      return reportError(error, terminal);
    }
  },
};

async function serveClient(invocation: Invocation): Promise<number> {
  const { terminal, environment, signal } = invocation;
  const request = await readSessionOptions(invocation);
  const log = createLineLog(terminal, environment);
  const session = await reachKernel(invocation, {
    tryRemote: (home) => attach(home, request),
    openLocal: (home, waitMs) => holdKernel({ data: home, waitMs, command: "mcp", log }, request),
  });
  try {
    const door = serveMcpStdio({ caller: session.caller, version: VERSION, log });
    const stop = (): void => void door.close();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    await door.closed;
    return EXIT_OK;
  } finally {
    await session.close();
  }
}

/** Undefined where no kernel answers. */
async function attach(home: string, request: SessionToOpen): Promise<McpSession | undefined> {
  const kernel = await tryServicesConnection(home);
  if (kernel === undefined) return undefined;
  try {
    const client = await connectFramed((await findSockets(home)).framed);
    const { session, token } = await kernel.openSession(request).catch(async (error: unknown) => {
      await client.close();
      throw error;
    });
    return {
      caller: createFramedCaller(client, token, () => kernel.listTools({ token, allVersions: false })),
      async close() {
        await client.close();
        await kernel.closeSession(session.sessionId).catch(() => undefined);
        await kernel.close();
      },
    };
  } catch (error) {
    await kernel.close();
    throw error;
  }
}

async function holdKernel(options: OpenKernelOptions, request: SessionToOpen): Promise<McpSession> {
  const kernel = await openKernel(options);
  if (kernel.prepared.length > 0) options.log?.("info", "set up a new home", { home: kernel.home.path });
  try {
    await kernel.openDoors();
    const { session, token } = await createLocalConnection(kernel).openSession(request);
    return {
      caller: await createKernelCaller(kernel, token),
      async close() {
        await kernel.closeSession(session.sessionId).catch(() => undefined);
        await kernel.close();
      },
    };
  } catch (error) {
    await kernel.close();
    throw error;
  }
}
