import { createServer, type Server } from "node:net";
import { setTimeout } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";
import type { FileIdentity } from "../sandbox/sandbox-plan.ts";

const WAIT_MS = 10_000;
const RETRY_MS = 50;
const IDLE_MS = 1000;

interface Held {
  users: number;
  readonly server: Promise<Server>;
  timer: NodeJS.Timeout | undefined;
}

/** Of this process; two kernels in it count as one. */
const HELD = new Map<string, Held>();

/**
 * Takes a workspace for the programs of this kernel that write it. Answers what lets go of it.
 *
 * SECURITY: a program of another kernel knows nothing of the guards of this one, and could swap what is about to be
 * guarded. The lock is a socket without a file: it needs no cleaning up, ends with the process, and no sandbox reaches it.
 */
export async function lockWorkspace({ device, inode }: FileIdentity, signal: AbortSignal): Promise<() => void> {
  const name = `\0narthex-workspace-${device}-${inode}`;
  let held = HELD.get(name);
  if (held === undefined) {
    held = { users: 0, server: listen(name), timer: undefined };
    HELD.set(name, held);
    held.server.catch(() => HELD.delete(name));
  }
  held.users++;
  clearTimeout(held.timer);
  try {
    // Others may wait for the same lock: one that is cancelled leaves without them.
    await Promise.race([held.server, cancelled(signal)]);
  } catch (fault) {
    letGo(name, held);
    throw fault;
  }
  return () => letGo(name, held);
}

function letGo(name: string, held: Held): void {
  if (--held.users > 0) return;
  // The next call is mostly on its way.
  held.timer = globalThis.setTimeout(() => {
    if (held.users > 0) return;
    HELD.delete(name);
    held.server.then((server) => server.close()).catch(() => undefined);
  }, IDLE_MS);
  held.timer.unref();
}

async function listen(name: string): Promise<Server> {
  for (const endMs = performance.now() + WAIT_MS; ; ) {
    const server = await tryToListen(name);
    if (server !== undefined) return server;
    if (performance.now() > endMs) {
      const message = "another kernel runs programs in this workspace; wait for them to end, or open a session there";
      throw new KernelError("SANDBOX_UNAVAILABLE", message);
    }
    await setTimeout(RETRY_MS);
  }
}

function cancelled(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(new KernelError("CANCELLED", "the call was cancelled while it waited"));
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}

/** Undefined while somebody else has it. */
function tryToListen(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (fault: NodeJS.ErrnoException) => {
      if (fault.code === "EADDRINUSE") resolve(undefined);
      else reject(new KernelError("SANDBOX_ERROR", "the workspace cannot be locked", { cause: fault }));
    });
    server.listen(name, () => resolve(server.unref()));
  });
}
