import { realpath } from "node:fs/promises";
import { readHolder, type Holder } from "@narthex/host/holder";
import { homePaths } from "@narthex/host/home-paths";
import { connectFramed, type FramedClient } from "@narthex/server/framed-client";
import { CommandError } from "../terminal/command-error.ts";
import { VERSION } from "../version.ts";
import { decideAttach } from "./decide-attach.ts";
import type { KernelConnection } from "./kernel-connection.ts";
import { findSockets } from "./kernel-files.ts";
import { createKernelHealth, type KernelCondition, type KernelHealth } from "./kernel-health.ts";
import type { KernelLink } from "./kernel-link.ts";
import { tryServicesConnection } from "./open-connection.ts";
import { openProcessClient, type ProcessClient } from "./process-client.ts";
import { createRemoteCaller } from "./remote-caller.ts";
import { findSessionState } from "./session-state.ts";
import { createToolWatch } from "./tool-watch.ts";

export interface AttachOptions {
  /** A kernel that does not respond within this time is unresponsive. */
  readonly responseTimeoutMs: number;
  /** The PATH of this client, for programs of its session. */
  readonly path: string;
  /** Whether to use an older kernel that would otherwise be replaced. */
  readonly acceptsOlder: boolean;
}

/** A kernel holds the home but cannot be attached to. */
export class AttachError extends CommandError {
  /** The kernel is giving up the home, so another one can be started. */
  readonly isStopping: boolean;

  constructor(isLeaving: boolean, ...parameters: ConstructorParameters<typeof CommandError>) {
    super(...parameters);
    this.isStopping = isLeaving;
  }
}

/** Maximum time that a received response waits for a health check on whether its kernel is stopping. */
const HEALTH_TIMEOUT_MS = 2000;

/**
 * Attaches to the kernel that holds a home. Returns undefined if no kernel responds, or if an older one should be
 * replaced. Throws AttachError: HOME_BUSY if the kernel speaks another protocol, KERNEL_UNREACHABLE if it does not
 * respond or takes no calls.
 */
export async function attachKernel(home: string, options: AttachOptions): Promise<KernelLink | undefined> {
  const kernel = await tryServicesConnection(home);
  if (kernel === undefined) return undefined;
  const sockets = await findSockets(home);
  const health = createKernelHealth(sockets.services);
  let client: ProcessClient | undefined;
  try {
    const holder = await readHolder(homePaths(await realpath(home)));
    // Between two holders the holder file is missing.
    if (holder === undefined)
      throw new AttachError(true, "KERNEL_UNREACHABLE", "the kernel of the home is just changing");
    const fit = decideAttach(holder);
    requireServing(await health.check(options.responseTimeoutMs), holder);
    if (fit === "refuse") throw createProtocolError(holder);
    if (fit === "replace" && !options.acceptsOlder) return await closeAll(kernel, health);
    client = await openProcessClient(home);
    const { elicitation } = await client.getKernel();
    const framed = await connectFramed(sockets.framed);
    return createKernelLink({ kernel, framed, health, holder, client }, { elicitation, path: options.path });
  } catch (error) {
    client?.close();
    await closeAll(kernel, health);
    throw error;
  }
}

async function closeAll(kernel: KernelConnection, health: KernelHealth): Promise<undefined> {
  health.close();
  await kernel.close();
}

interface AttachedKernel {
  readonly kernel: KernelConnection;
  readonly framed: FramedClient;
  readonly health: KernelHealth;
  readonly holder: Holder;
  readonly client: ProcessClient;
}

interface LinkOptions {
  readonly elicitation: boolean;
  readonly path: string;
}

function createKernelLink(
  { kernel, framed, health, holder, client }: AttachedKernel,
  { elicitation, path }: LinkOptions,
): KernelLink {
  const going = new AbortController();
  const closing = new AbortController();
  const tools = createToolWatch((query) => kernel.tailRecords(query), closing.signal);
  // A stopping kernel ends the stream of records first, and the system ends it if the kernel was killed.
  void tools.ended.then(() => going.abort());
  return {
    holder: holder.command,
    elicitation,
    stopping: going.signal,
    isStopping: async () => going.signal.aborted || (await health.check(HEALTH_TIMEOUT_MS)) === "going",
    checkUnresponsive: async (afterMs) =>
      (await health.check(afterMs)) === "silent" ? describeUnresponsive(holder) : undefined,
    async openSession(request) {
      const { session, token } = await kernel.openSession({ ...request, attended: true });
      return { sessionId: session.sessionId, token };
    },
    findSessionState: (sessionId) => findSessionState(kernel, sessionId),
    closeSession: async (sessionId) => void (await kernel.closeSession(sessionId)),
    async createCaller({ sessionId, token }) {
      const { ended } = await client.attend({ sessionId, path, signal: closing.signal, onLeaseEnded: tools.tell });
      void ended.then(() => going.abort());
      return createRemoteCaller({ framed, kernel, sessionId, token });
    },
    onToolsChanged: tools.listen,
    async close() {
      closing.abort();
      health.close();
      client.close();
      await framed.close();
      await kernel.close();
    },
  };
}

function createProtocolError(holder: Holder): AttachError {
  const version = holder.version === "" ? "of another version" : holder.version.slice(0, 40);
  const text = `${nameOf(holder)} holds the home with narthex ${version}, whose protocol narthex ${VERSION} does not speak`;
  return new AttachError(false, "HOME_BUSY", text, {
    next: "use the newer version for both, then stop that process; or name another home with `--data DIR`",
  });
}

function requireServing(condition: KernelCondition, holder: Holder): void {
  if (condition === "serving") return;
  const isSilent = condition === "silent";
  const text = isSilent ? describeUnresponsive(holder) : `${nameOf(holder)} holds the home and takes no calls`;
  const next = "end that process; then another one takes its place";
  throw new AttachError(!isSilent, "KERNEL_UNREACHABLE", text, { next });
}

function describeUnresponsive(holder: Holder): string {
  return `${nameOf(holder)} holds the home and does not answer`;
}

function nameOf({ command, pid }: Holder): string {
  return `\`${command}\` (process ${pid})`;
}
