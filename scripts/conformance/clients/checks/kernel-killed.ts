import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";
import { signalProcess } from "../processes.ts";
import { prepareSlowCommand, SLOW_STEP } from "./slow-command.ts";

const LOOK = { call: "file_read", input: { path: "README.md" } };

export const kernelKilled: Check = {
  name: "kernel-killed",
  title: "the client works on after the kernel was killed, and an interrupted command can be run again",
  async run(site) {
    const slow = await prepareSlowCommand(site);
    await using run = await site.start([LOOK, SLOW_STEP, SLOW_STEP, LOOK]);
    await slow.started();
    const pid = await site.kernelProcess();
    expect(pid !== undefined, "no process holds the kernel's home");
    signalProcess(pid, "SIGKILL");
    const [, killed = ""] = await run.results(2);
    expect(!/OUTCOME_UNKNOWN/.test(killed), `the outcome of the killed command is unknown: ${excerpt(killed)}`);
    expect(/killed/i.test(killed), `the model is not told that the command was killed: ${excerpt(killed)}`);
    await slow.started();
    await slow.release();
    const { results } = await run.end();
    const [, , again = "", look = ""] = results;
    expect(again.includes("it was released"), `the same command again: ${excerpt(again)}`);
    expect(look.includes("Adds numbers"), `the call after it: ${excerpt(look)}`);
    return undefined;
  },
};
