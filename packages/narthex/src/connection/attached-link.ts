import { realpath } from "node:fs/promises";
import { describeHolder, type Holder, loadConfiguration } from "@narthex/host";
import { homePaths } from "@narthex/host/home-paths";
import { connectFramed, type FramedClient } from "@narthex/server";
import { CommandError } from "../terminal/command-error.ts";
import { VERSION } from "../version.ts";
import type { KernelConnection } from "./kernel-connection.ts";
import { findSockets } from "./kernel-files.ts";
import type { KernelLink } from "./kernel-link.ts";
import { askKernelVersion } from "./kernel-version.ts";
import { somebodyAnswers, tryServicesConnection } from "./open-connection.ts";
import { createRemoteCaller } from "./remote-caller.ts";
import { sessionStateIn } from "./session-state.ts";
import { createToolWatch } from "./tool-watch.ts";

/** Goes through the kernel that holds a home. Undefined where none answers; KERNEL_UNREACHABLE if it is silent. */
export async function attachKernel(home: string, silenceMs: number): Promise<KernelLink | undefined> {
  const kernel = await tryServicesConnection(home);
  if (kernel === undefined) return undefined;
  try {
    const holder = await describeHolder(homePaths(await realpath(home)));
    if (!(await answersWithin(kernel, silenceMs))) throw silent(holder);
    const { mcp } = await loadConfiguration(homePaths(home).configuration);
    const sockets = await findSockets(home);
    const framed = await connectFramed(sockets.framed);
    return linkTo({ kernel, framed, holder, servicesPath: sockets.services }, mcp.elicitation === "approvals");
  } catch (error) {
    await kernel.close();
    throw error;
  }
}

interface Attached {
  readonly kernel: KernelConnection;
  readonly framed: FramedClient;
  readonly holder: Holder | undefined;
  readonly servicesPath: string;
}

function linkTo({ kernel, framed, holder, servicesPath }: Attached, elicitation: boolean): KernelLink {
  const going = new AbortController();
  const closing = new AbortController();
  const tools = createToolWatch((query) => kernel.tailRecords(query), closing.signal);
  // The stream of records is the first thing that a kernel ends, and the system ends it for one that was killed.
  void tools.ended.then(() => going.abort());
  return {
    holder: holder?.command ?? "",
    elicitation,
    going: going.signal,
    // Its doors close with its first refusal.
    isGoing: async () => going.signal.aborted || !(await somebodyAnswers(servicesPath)),
    answersWithin: (timeoutMs) => answersWithin(kernel, timeoutMs),
    async openSession(request) {
      const { session, token } = await kernel.openSession(request);
      return { sessionId: session.sessionId, token };
    },
    sessionState: (sessionId) => sessionStateIn(kernel, sessionId),
    closeSession: async (sessionId) => void (await kernel.closeSession(sessionId)),
    async createCaller({ sessionId, token }) {
      const version = await askKernelVersion(servicesPath, token);
      if (version !== undefined && version !== VERSION) throw otherVersion(version, holder);
      return createRemoteCaller({ framed, kernel, sessionId, token });
    },
    onToolsChanged: tools.listen,
    async close() {
      closing.abort();
      await framed.close();
      await kernel.close();
    },
  };
}

/** Any answer counts: a kernel that refuses is there. */
async function answersWithin(kernel: KernelConnection, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  const answer = kernel.getPolicy().then(
    () => true,
    () => true,
  );
  const answered = await Promise.race([answer, silence]);
  clearTimeout(timer);
  return answered;
}

function silent(holder: Holder | undefined): CommandError {
  return new CommandError("KERNEL_UNREACHABLE", `${nameOf(holder)} holds the home and does not answer`, {
    next: "end that process; then another one takes its place",
  });
}

function otherVersion(version: string, holder: Holder | undefined): CommandError {
  const text = `${nameOf(holder)} holds the home with narthex ${version}, and this is narthex ${VERSION}`;
  return new CommandError("HOME_BUSY", text, {
    next: "stop that one, or run the same version everywhere; another home is named with `--data DIR`",
  });
}

function nameOf(holder: Holder | undefined): string {
  return holder === undefined ? "another process" : `\`${holder.command}\` (process ${holder.pid})`;
}
