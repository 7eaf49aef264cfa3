import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Step } from "../client-run.ts";
import { expect } from "../outcome.ts";
import { findCommands, waitFor } from "../processes.ts";
import type { Site } from "../site.ts";

/** A test of the project that runs until the check releases it. */
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
  /** Waits until no process of it is left; false when the time is over. */
  isGone(timeoutMs: number): Promise<boolean>;
}

/** Forgets earlier runs of it. */
export async function prepareSlowCommand(site: Site): Promise<SlowCommand> {
  const path = (name: string): string => join(site.project, name);
  const forget = (name: string): Promise<void> => rm(path(name), { force: true });
  // Test files run in processes of their own; the sandbox has the project at its real path.
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
