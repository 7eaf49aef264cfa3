import { loadConfiguration } from "@narthex/host";
import { homePaths } from "@narthex/host/home-paths";
import { connectFramed, createKernelCaller, type McpCaller, serveMcpStdio } from "@narthex/server";
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
import { createRemoteCaller } from "./mcp-remote-caller.ts";
import { readSessionOptions, SESSION_OPTIONS } from "./session-options.ts";

/** A session of its own, wherever its kernel is. */
interface McpSession {
  readonly caller: McpCaller;
  /** Whether clients may be asked for approvals. */
  readonly elicitation: boolean;
  /** Closes the session and lets go of the kernel. */
  close(): Promise<void>;
}

export const mcpCommand: Command = {
  details:
    "Opens a session for as long as the client stays. Where a kernel holds the home, calls go through it; else this command " +
    "is the kernel meanwhile, and others find it. Nothing but the protocol is written on the output stream. With --http it " +
    "is a kernel that serves any number of clients at http://ADDRESS/mcp, as `serve` does, with the session's token.",
  options: [
    ...SESSION_OPTIONS,
    { flags: "--http <host:port>", description: "serve Streamable HTTP here instead of standard input and output" },
  ],
  examples: [
    "narthex mcp --workspace ~/project --agent claude",
    "narthex mcp --workspace ~/project --http 127.0.0.1:7412",
  ],

  async run(invocation) {
    const address = invocation.options.text("http");
    if (address !== undefined) return (await import("./mcp-http.ts")).serveMcpHttp(invocation, address);
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
    const door = serveMcpStdio({ ...session, version: VERSION, log });
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
    const { mcp } = await loadConfiguration(homePaths(home).configuration);
    const client = await connectFramed((await findSockets(home)).framed);
    const { session, token } = await kernel.openSession(request).catch(async (error: unknown) => {
      await client.close();
      throw error;
    });
    return {
      caller: createRemoteCaller({ framed: client, kernel, sessionId: session.sessionId, token }),
      elicitation: mcp.elicitation === "approvals",
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
      elicitation: kernel.configuration.mcp.elicitation === "approvals",
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
