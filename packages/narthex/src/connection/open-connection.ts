import { setTimeout as sleep } from "node:timers/promises";
import type { Approver } from "@narthex/kernel";
import type { OwnCodeMode } from "../own-code.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { isNotListening, unreachable } from "./connection-error.ts";
import type { CallConnection, KernelConnection } from "./kernel-connection.ts";
import { findAdminToken, findSockets } from "./kernel-files.ts";

/** What a command provides to reach a kernel. */
export interface ConnectionRequest {
  readonly home: string;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
  readonly environment: NodeJS.ProcessEnv;
  /** For a kernel in this process: asks the user at the terminal. */
  readonly approver?: Approver | undefined;
  /** For a kernel in this process; by default it refuses a workspace that holds its code. */
  readonly ownCode?: OwnCodeMode | undefined;
}

/** How to reach a kernel: in another process, or in this one. */
export interface KernelRoutes<Remote, Local> {
  /** Returns undefined if no kernel responds. */
  tryRemote(home: string): Promise<Remote | undefined>;
  openLocal(home: string, waitMs: number): Promise<Local>;
}

/** How long a one-shot command waits for the process that holds the home. */
const WAIT_MS = 5000;
/** How long it waits for the home's lock before it checks again whether a kernel responds. */
const LOCK_WAIT_MS = 400;
const RETRY_MS = 20;

/** Runs `use` with a connection to the kernel of this home, and always closes the connection afterwards. */
export function withConnection<T>(
  request: ConnectionRequest,
  command: string,
  use: (kernel: KernelConnection) => Promise<T>,
): Promise<T> {
  return useAndClose(
    reachKernel(request, { tryRemote: tryServicesConnection, openLocal: openLocal(request, command) }),
    use,
  );
}

/** Does the same for one call, through the framed door. */
export function withCallConnection<T>(
  request: ConnectionRequest,
  command: string,
  use: (kernel: CallConnection) => Promise<T>,
): Promise<T> {
  const ways: KernelRoutes<CallConnection, CallConnection> = {
    tryRemote: tryFramedConnection,
    openLocal: openLocal(request, command),
  };
  return useAndClose(reachKernel(request, ways), use);
}

/**
 * Connects to the sockets of the kernel that holds the home; if no process holds it, opens its store in this process.
 */
export async function reachKernel<Remote, Local>(
  { home, signal }: Pick<ConnectionRequest, "home" | "signal">,
  { tryRemote, openLocal }: KernelRoutes<Remote, Local>,
  waitMs = WAIT_MS,
): Promise<Remote | Local> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const remote = await tryRemote(home);
    if (remote !== undefined) return remote;
    try {
      return await openLocal(home, LOCK_WAIT_MS);
    } catch (error) {
      if (!isHomeBusy(error) || performance.now() > deadline) throw error;
      // Another process took the home: a kernel about to open its sockets, or another short command.
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

export async function tryServicesConnection(home: string): Promise<KernelConnection | undefined> {
  const { services } = await findSockets(home);
  return (await isListening(services)) ? openServices(home, services) : undefined;
}

async function tryFramedConnection(home: string): Promise<CallConnection | undefined> {
  const { framed, services } = await findSockets(home);
  const { connectFramed } = await import("@narthex/server/framed-client");
  try {
    const client = await connectFramed(framed);
    const { createFramedConnection } = await import("./framed-connection.ts");
    return createFramedConnection({ client, openServices: () => openServices(home, services) });
  } catch (error) {
    if (isNotListening(error)) return undefined;
    throw unreachable(framed, error);
  }
}

function openLocal({ terminal, environment, approver, ownCode }: ConnectionRequest, command: string) {
  return async (home: string, waitMs: number): Promise<KernelConnection> => {
    const { openLocalConnection } = await import("./local-connection.ts");
    return openLocalConnection({ home, command, waitMs, terminal, environment, approver, ownCode });
  };
}

async function useAndClose<K extends CallConnection, T>(
  opening: Promise<K>,
  use: (kernel: K) => Promise<T>,
): Promise<T> {
  const kernel = await opening;
  let result: T;
  try {
    result = await use(kernel);
  } catch (error) {
    // The user must see the first error, not one from closing.
    await kernel.close().catch(() => undefined);
    throw error;
  }
  await kernel.close();
  return result;
}

async function openServices(home: string, socketPath: string): Promise<KernelConnection> {
  const { createServicesConnection } = await import("./services-connection.ts");
  return createServicesConnection({ socketPath, adminToken: await findAdminToken(home) });
}

/** Whether a process listens on the socket. */
async function isListening(path: string): Promise<boolean> {
  const { connect } = await import("node:net");
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error) => (isNotListening(error) ? resolve(false) : reject(unreachable(path, error))));
  });
}

function isHomeBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "HOME_BUSY";
}
