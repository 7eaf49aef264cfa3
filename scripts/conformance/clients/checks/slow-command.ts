import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Step } from "../client-run.ts";
import { expect } from "../outcome.ts";
import { findCommands, waitFor } from "../processes.ts";
import type { Site } from "../site.ts";

/** Runs a test of the project that waits until the check releases it. */
export const SLOW_STEP: Step = {
  call: "shell_exec",
  input: { command: "node --test slow/wait.js", timeout_ms: 600_000 },
};

const STARTED = "slow.started";
const RELEASE = "slow.release";

export interface SlowCommand {
  /** Waits until it runs. */
  started(): Promise<void>;
  release(): Promise<void>;
  isRunning(): Promise<boolean>;
  /** Waits until all of its processes have ended; false after the timeout. */
  isGone(timeoutMs: number): Promise<boolean>;
}

/** Removes the files of earlier runs. */
export async function prepareSlowCommand(site: Site): Promise<SlowCommand> {
  const path = (name: string): string => join(site.project, name);
  const forget = (name: string): Promise<void> => rm(path(name), { force: true });
  // Found by its path: test files run in their own processes, and the sandbox has the project at its real path.
  const find = async (): Promise<number> => (await findCommands("slow/wait.js")).length;
  await Promise.all([STARTED, RELEASE].map(forget));
  return {
    async started() {
      const isThere = await waitFor(() => (existsSync(path(STARTED)) ? true : undefined), 60_000);
      expect(isThere === true, "the command did not start");
      await forget(STARTED);
    },
    release: () => writeFile(path(RELEASE), ""),
    isRunning: async () => (await find()) > 0,
    async isGone(timeoutMs) {
      return (await waitFor(async () => ((await find()) === 0 ? true : undefined), timeoutMs)) === true;
    },
  };
}
