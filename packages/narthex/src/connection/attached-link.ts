import { realpath } from "node:fs/promises";
import { describeHolder, type Holder, loadConfiguration } from "@narthex/host";
import { homePaths } from "@narthex/host/home-paths";
import { connectFramed, type FramedClient } from "@narthex/server";
import { CommandError } from "../terminal/command-error.ts";
import { VERSION } from "../version.ts";
import type { KernelConnection } from "./kernel-connection.ts";
import { findSockets } from "./kernel-files.ts";
import { createKernelHealth, type KernelCondition, type KernelHealth } from "./kernel-health.ts";
import type { KernelLink } from "./kernel-link.ts";
import { tryServicesConnection } from "./open-connection.ts";
import { createRemoteCaller } from "./remote-caller.ts";
import { sessionStateIn } from "./session-state.ts";
import { createToolWatch } from "./tool-watch.ts";

/** How long an answer that is there already waits for word whether its kernel goes. */
const LOOK_MS = 2000;

/**
 * Goes through the kernel that holds a home. Undefined where none answers; HOME_BUSY if it is of another version,
 * KERNEL_UNREACHABLE if it is silent or takes no calls.
 */
export async function attachKernel(home: string, silenceMs: number): Promise<KernelLink | undefined> {
  const kernel = await tryServicesConnection(home);
  if (kernel === undefined) return undefined;
  const sockets = await findSockets(home);
  const health = createKernelHealth(sockets.services);
  try {
    const holder = requireSameVersion(await describeHolder(homePaths(await realpath(home))));
    requireServing(await health.look(silenceMs), holder);
    const { mcp } = await loadConfiguration(homePaths(home).configuration);
    const framed = await connectFramed(sockets.framed);
    return linkTo({ kernel, framed, health, holder }, mcp.elicitation === "approvals");
  } catch (error) {
    health.close();
    await kernel.close();
    throw error;
  }
}

interface Attached {
  readonly kernel: KernelConnection;
  readonly framed: FramedClient;
  readonly health: KernelHealth;
  readonly holder: Holder;
}

function linkTo({ kernel, framed, health, holder }: Attached, elicitation: boolean): KernelLink {
  const going = new AbortController();
  const closing = new AbortController();
  const tools = createToolWatch((query) => kernel.tailRecords(query), closing.signal);
  // The stream of records is the first thing that a kernel ends, and the system ends it for one that was killed.
  void tools.ended.then(() => going.abort());
  return {
    holder: holder.command,
    elicitation,
    going: going.signal,
    isGoing: async () => going.signal.aborted || (await health.look(LOOK_MS)) === "going",
    silence: async (afterMs) => ((await health.look(afterMs)) === "silent" ? silenceOf(holder) : undefined),
    async openSession(request) {
      const { session, token } = await kernel.openSession(request);
      return { sessionId: session.sessionId, token };
    },
    sessionState: (sessionId) => sessionStateIn(kernel, sessionId),
    closeSession: async (sessionId) => void (await kernel.closeSession(sessionId)),
    createCaller: async ({ sessionId, token }) => createRemoteCaller({ framed, kernel, sessionId, token }),
    onToolsChanged: tools.listen,
    async close() {
      closing.abort();
      health.close();
      await framed.close();
      await kernel.close();
    },
  };
}

/** One home is read and written by one version at a time. */
function requireSameVersion(holder: Holder | undefined): Holder {
  // Between two holders nobody is named.
  if (holder === undefined) throw new CommandError("KERNEL_UNREACHABLE", "nobody says who holds the home");
  if (holder.version === VERSION) return holder;
  const version = holder.version === "" ? "of another version" : holder.version.slice(0, 40);
  const text = `${nameOf(holder)} holds the home with narthex ${version}, and this is narthex ${VERSION}`;
  throw new CommandError("HOME_BUSY", text, {
    next: "stop that one, or run the same version everywhere; another home is named with `--data DIR`",
  });
}

function requireServing(condition: KernelCondition, holder: Holder): void {
  if (condition === "serving") return;
  const text = condition === "silent" ? silenceOf(holder) : `${nameOf(holder)} holds the home and takes no calls`;
  throw new CommandError("KERNEL_UNREACHABLE", text, { next: "end that process; then another one takes its place" });
}

function silenceOf(holder: Holder): string {
  return `${nameOf(holder)} holds the home and does not answer`;
}

function nameOf({ command, pid }: Holder): string {
  return `\`${command}\` (process ${pid})`;
}
