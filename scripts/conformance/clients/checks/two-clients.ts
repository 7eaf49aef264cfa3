import { setTimeout as sleep } from "node:timers/promises";
import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";
import { prepareSlowCommand, SLOW_STEP } from "./slow-command.ts";

const LOOK = { call: "file_read", input: { path: "README.md" } };
/** Time for a kernel and its commands to notice that a client has ended. */
const AFTERMATH_MS = 3000;

export const twoClients: Check = {
  name: "two-clients",
  title: "a command goes on when another client ends, and when one is killed",
  async run(site) {
    const slow = await prepareSlowCommand(site);
    const hold = Promise.withResolvers<void>();
    await using first = await site.start([
      LOOK,
      async () => {
        await hold.promise;
        return { say: "All done." };
      },
    ]);
    await first.results(1);
    await using second = await site.start([LOOK, async () => hold.promise.then(() => LOOK)]);
    await second.results(1);
    await using worker = await site.start([SLOW_STEP, LOOK]);
    await slow.started();
    second.signal("SIGKILL", "group");
    await sleep(AFTERMATH_MS);
    hold.resolve();
    const { code } = await first.end();
    expect(code === 0, `the first client ended with ${code}`);
    await sleep(AFTERMATH_MS);
    await slow.release();
    const { results } = await worker.end();
    const [command = "", look = ""] = results;
    expect(command.includes("it was released"), `the command of the other client: ${excerpt(command)}`);
    expect(look.includes("Adds numbers"), `the call after it: ${excerpt(look)}`);
    return undefined;
  },
};
