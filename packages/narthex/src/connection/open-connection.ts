import { setTimeout as sleep } from "node:timers/promises";
import { isNobodyThere } from "./connection-error.ts";
import type { CallConnection, KernelConnection } from "./kernel-connection.ts";
import { findAdminToken, findSockets } from "./kernel-files.ts";

/** What a command tells of itself to reach a kernel. */
export interface ConnectionRequest {
  readonly home: string;
  readonly signal: AbortSignal;
}

/** How long a one-shot command waits for whoever holds the home. */
const WAIT_MS = 5000;
/** How long it waits for the home's lock before it looks again whether a kernel answers by now. */
const LOCK_WAIT_MS = 400;
const LOOK_AGAIN_MS = 20;

/** Runs `use` against the kernel of this home and lets go of it afterwards, whatever happened. */
export function withConnection<T>(
  request: ConnectionRequest,
  command: string,
  use: (kernel: KernelConnection) => Promise<T>,
): Promise<T> {
  return withEither(request, command, tryServicesConnection, use);
}

/** The same for one call, which takes the fast door. */
export function withCallConnection<T>(
  request: ConnectionRequest,
  command: string,
  use: (kernel: CallConnection) => Promise<T>,
): Promise<T> {
  return withEither(request, command, tryFramedConnection, use);
}

/** Undefined where no kernel answers. */
export async function tryServicesConnection(home: string): Promise<KernelConnection | undefined> {
  const { services } = await findSockets(home);
  if (!(await somebodyAnswers(services))) return undefined;
  return openServices(home, services);
}

async function tryFramedConnection(home: string): Promise<CallConnection | undefined> {
  const { framed, services } = await findSockets(home);
  const { connectFramed } = await import("@narthex/server/framed-client");
  try {
    const client = await connectFramed(framed);
    const { createFramedConnection } = await import("./framed-connection.ts");
    return createFramedConnection({ client, openServices: () => openServices(home, services) });
  } catch (error) {
    if (isNobodyThere(error)) return undefined;
    throw error;
  }
}

/** Through the sockets of the kernel that holds the home; where nobody does, by opening its store in this process. */
async function withEither<K extends CallConnection, T>(
  request: ConnectionRequest,
  command: string,
  tryRemote: (home: string) => Promise<K | undefined>,
  use: (kernel: K | KernelConnection) => Promise<T>,
): Promise<T> {
  const kernel = await openEither(request, command, tryRemote);
  try {
    return await use(kernel);
  } finally {
    await kernel.close();
  }
}

async function openEither<K>(
  { home, signal }: ConnectionRequest,
  command: string,
  tryRemote: (home: string) => Promise<K | undefined>,
): Promise<K | KernelConnection> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const remote = await tryRemote(home);
    if (remote !== undefined) return remote;
    try {
      const { openLocalConnection } = await import("./local-connection.ts");
      return await openLocalConnection({ home, command, waitMs: LOCK_WAIT_MS });
    } catch (error) {
      if (!isHomeBusy(error) || performance.now() > deadline) throw error;
      // Somebody took the home: a kernel about to open its sockets, or another short command.
      await sleep(LOOK_AGAIN_MS, undefined, { signal });
    }
  }
}

async function openServices(home: string, socketPath: string): Promise<KernelConnection> {
  const { createServicesConnection } = await import("./services-connection.ts");
  return createServicesConnection({ socketPath, adminToken: await findAdminToken(home) });
}

async function somebodyAnswers(path: string): Promise<boolean> {
  const { connect } = await import("node:net");
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error) => (isNobodyThere(error) ? resolve(false) : reject(error)));
  });
}

function isHomeBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "HOME_BUSY";
}
