import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";
import { waitFor } from "../processes.ts";
import type { Site } from "../site.ts";
import { prepareSlowCommand, SLOW_STEP } from "./slow-command.ts";

/** Ctrl-C, which a terminal sends to all of its processes; a supervisor's stop; and a kill of all processes. */
const ENDS = [
  { signal: "SIGINT", to: "group" },
  { signal: "SIGTERM", to: "client" },
  { signal: "SIGKILL", to: "group" },
] as const;

export const cancel: Check = {
  name: "cancel",
  title: "a command dies with its client (INT, TERM, KILL), and the ledger says how it ended",
  async run(site) {
    const deaf: string[] = [];
    for (const { signal, to } of ENDS) {
      const slow = await prepareSlowCommand(site);
      await using run = await site.start([SLOW_STEP]);
      await slow.started();
      expect(await slow.isRunning(), `${signal}: the command is not among the processes`);
      run.signal(signal, to);
      if (!(await run.isGone(10_000))) {
        deaf.push(signal);
        run.signal("SIGKILL", "group");
      }
      const isGone = await slow.isGone(20_000);
      await slow.release();
      expect(isGone, `${signal}: the command still runs 20 s after its client ended`);
      const unsettled = await waitFor(async () => ((await openCalls(site)) === "" ? "" : undefined), 20_000);
      expect(unsettled === "", `${signal}: the ledger does not say how it ended: ${excerpt(await openCalls(site))}`);
      const end = await lastEnd(site);
      expect(/^(?:CANCELLED|KILLED)$/.test(end), `${signal}: the ledger says that the command ended with ${end}`);
    }
    return deaf.length === 0 ? undefined : `${site.client.title} itself goes on after ${deaf.join(", ")}`;
  },
};

/** Calls whose end is missing from the ledger, or is unknown. */
async function openCalls(site: Site): Promise<string> {
  const { intents } = await site.ask("journal");
  expect(Array.isArray(intents), "`narthex journal --json` lists no intents");
  return intents.length === 0 ? "" : JSON.stringify(intents);
}

/** The code with which the last call ended, according to the ledger. */
async function lastEnd(site: Site): Promise<string> {
  const { records } = await site.ask("ledger", "list", "--limit", "20");
  const codes = [...JSON.stringify(records).matchAll(/"tool_(?:completed|failed)":\{"success":\w+,"code":"(\w*)"/g)];
  return codes.at(-1)?.[1] || "no code";
}
