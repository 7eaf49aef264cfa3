import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";
import { waitFor } from "../processes.ts";
import type { Site } from "../site.ts";

const REASON = "use the build script for that";

export const approval: Check = {
  name: "approval",
  title: "a call waits for a person, who answers in another terminal; a no reaches the model with its reason",
  async run(site) {
    await using run = await site.start([
      { call: "shell_exec", input: { command: "touch approved.txt" } },
      { call: "shell_exec", input: { command: "touch refused.txt" } },
    ]);
    await site.ask("approvals", "approve", await openQuestion(site));
    const [yes = ""] = await run.results(1);
    expect(existsSync(join(site.project, "approved.txt")), `the approved command did not run: ${excerpt(yes)}`);
    await site.ask("approvals", "deny", await openQuestion(site), "--reason", REASON);
    const { results } = await run.end();
    const no = results[1] ?? "";
    expect(!existsSync(join(site.project, "refused.txt")), "the refused command ran");
    expect(no.includes(REASON), `the model was not told the reason: ${excerpt(no)}`);
    return undefined;
  },
};

/** Waits for an approval request and returns its id. */
async function openQuestion(site: Site): Promise<string> {
  const id = await waitFor(async () => {
    const { code, stdout } = await site.narthex("approvals", "list", "--json");
    return code === 0 ? /"(apr_[\w-]+)"/.exec(stdout)?.[1] : undefined;
  }, 60_000);
  expect(id !== undefined, "no question is open");
  return id;
}
