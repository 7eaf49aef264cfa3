import { setTimeout as sleep } from "node:timers/promises";
import { readHolder, type Holder } from "@narthex/host/holder";
import { homePaths } from "@narthex/host/home-paths";
import { isNotListening } from "../connection/connection-error.ts";
import { openProcessClient } from "../connection/process-client.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command } from "./command.ts";

const POLL_MS = 25;

export const stopCommand: Command = {
  details:
    "Asks the kernel that `narthex mcp` started to end: it takes no new calls, and running ones may finish " +
    "(timeouts.shutdown_ms). A client that is still there starts another one for its next call. `narthex serve` is stopped " +
    "where it runs, with Ctrl-C or SIGTERM.",
  examples: ["narthex stop"],

  async run(invocation) {
    const { home, terminal } = invocation;
    const holder = await readHolder(homePaths(home));
    const isStopped = holder !== undefined && (await askToStop(home, holder));
    if (isStopped) await waitForExit(holder.pid, invocation.signal);
    if (terminal.json) terminal.printJson({ stopped: isStopped, ...(isStopped && { pid: holder.pid }) });
    else if (isStopped) terminal.print(`the kernel has stopped (process ${holder.pid})`);
    else terminal.note(`no kernel runs on ${home}`);
    return EXIT_OK;
  },
};

/** Returns false if the holder file was left behind by a process that has ended. */
async function askToStop(home: string, holder: Holder): Promise<boolean> {
  const client = await openProcessClient(home);
  try {
    await client.stop("`narthex stop`");
    return true;
  } catch (error) {
    if (isNotListening(error)) return false;
    if (!(error instanceof Error) || !("code" in error) || error.code !== "HOME_BUSY") throw error;
    throw new CommandError("HOME_BUSY", error.message, {
      cause: error,
      next: `press Ctrl-C where it runs, or send it SIGTERM: \`kill ${holder.pid}\``,
    });
  } finally {
    client.close();
  }
}

async function waitForExit(pid: number, signal: AbortSignal): Promise<void> {
  while (isAlive(pid)) await sleep(POLL_MS, undefined, { signal });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
