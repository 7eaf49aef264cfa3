import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fromBinary, RecordSchema } from "@narthex/contracts";
import { defineTool } from "narthex";
import { createShellKernel, processesWith, type ShellKernel, type ShellSession } from "./shell-kernel.ts";
import { sampled } from "../sampled.ts";

const LIMIT = 1500;
/** A process is stopped at the next look, a tenth of a second later on an idle machine, or after a whole second at most. */
const ROUNDING = 1000;
const LOOP = "while :; do :; done";
const burn = (ms: number): string => `perl -e '1 while (times)[0] + (times)[1] < ${ms / 1000}'`;
const EXCEEDED = /^cpu: at most 1500 ms, and it came to (\d+) ms/;

/** Burns until it is stopped, under a bound of its own. */
const burner = defineTool({
  name: "burner",
  description: "Uses the processor.",
  source: "subprocess",
  isolation: "process",
  inputSchema: true,
  tier: "side_effecting",
  effects: ["fs_read", "process_spawn"],
  capabilities: [
    { kind: "fs_read", prefixes: [] },
    { kind: "exec", names: [] },
  ],
  bounds: { maxCpuMs: 500 },
  async run(_, { programs }) {
    const { exceeded } = await programs.run({ command: ["/bin/bash", "-c", LOOP], workingDirectory: "." });
    return { ...exceeded };
  },
});
const RULES = ["shell_exec", "shell_spawn", "shell_input", "burner"]
  .map((tool) => `@id("test-${tool}") @approve("none") permit(principal, action == Action::"${tool}", resource);`)
  .join("\n");

for (const backend of ["sandbox", "session"] as const) {
  describe(`a session with a budget of processor time, backend ${backend}`, { timeout: 240_000 }, () => {
    let at: ShellKernel;
    before(async () => {
      const policies = [{ name: "rules.cedar", text: RULES }];
      at = await createShellKernel(backend, { policies, tools: [burner] });
    });
    after(() => at.remove());

    const open = (cpuMs = LIMIT): Promise<ShellSession> => at.open(undefined, { budgets: { cpu_ms: cpuMs } });
    const left = async ({ session }: ShellSession) => (await at.kernel.getSession(session.id))?.budgetRemaining.cpu_ms;
    /** What each call spent, by the ledger. */
    async function spent({ session }: ShellSession): Promise<number[]> {
      const records = await at.kernel.listRecords({ chain: session.id, limit: 1000 });
      const kinds = records.flatMap(({ record }) => fromBinary(RecordSchema, record).entries.map(({ kind }) => kind));
      return kinds.flatMap(({ value }) =>
        value !== undefined && "spent" in value
          ? value.spent.flatMap(({ dimension, amount }) => (dimension === "cpu_ms" ? [Number(amount)] : []))
          : [],
      );
    }

    const stopped: readonly (readonly [what: string, command: string])[] = [
      ["a busy loop", LOOP],
      ["busy loops side by side", `for i in 1 2 3 4; do (${LOOP}) & done; wait`],
      ["a swarm of short processes", "while :; do /bin/true; done"],
      ["a loop that ignores the signal", `trap "" XCPU; ${LOOP}`],
    ];
    for (const [what, command] of sampled(stopped, backend === "session" ? 2 : 4)) {
      it(`stops ${what}, and denies the next call`, async () => {
        const shell = await open();
        const { code, message } = await shell.refused("shell_exec", { command, timeout_ms: 100_000 });
        assert.equal(code, "RESOURCE_EXCEEDED", message);
        const peak = Number(EXCEEDED.exec(message)?.[1] ?? assert.fail(message));
        assert.ok(peak > LIMIT, message);
        const [used = 0] = await spent(shell);
        assert.ok(used >= LIMIT && used <= LIMIT + ROUNDING, `${used} ms`);
        assert.equal(await left(shell), 0);
        const next = await shell.refused("shell_exec", { command: "true" });
        assert.deepEqual([next.code, /cpu_ms has 0 left/.test(next.message)], ["BUDGET_EXCEEDED", true]);
      });
    }

    it("charges each command for its own use", async () => {
      const shell = await open(60_000);
      await shell.run(burn(300));
      await shell.run("true");
      const [burnt = 0, idle = 0] = await spent(shell);
      assert.ok(burnt >= 300 && burnt < 3000, `${burnt} ms`);
      assert.ok(idle < 250, `${idle} ms`);
      assert.equal(await left(shell), 60_000 - burnt - idle);
    });

    it("charges every tool that runs programs, also several at once, and no other", async () => {
      const shell = await open(60_000);
      await shell.session.call("git", { operation: "STATUS" });
      await shell.session.call("file_search", { pattern: "anything" });
      await shell.ask("echo", { nothing: true });
      await shell.ask("file_write", { path: "some.txt", content: "text" });
      const each = await spent(shell);
      assert.equal(each.length, 2, each.join(" "));
      assert.equal(await left(shell), 60_000 - each.reduce((sum, ms) => sum + ms, 0));
    });

    it("kills processes that a command leaves behind", async () => {
      const shell = await open(60_000);
      const mark = `narthex-burner-${backend}-${process.pid}`;
      const { code, out, notes } = await shell.run(
        `(exec -a ${mark} perl -e '1 while 1' >/dev/null 2>&1 &) ; echo done`,
      );
      assert.deepEqual([code, out], [0, "done\n"]);
      assert.deepEqual(await processesWith(mark), []);
      // A fresh sandbox ends with its command anyway; a shell is told of.
      if (backend === "session") assert.match(String(notes), /was ended with what the command left running/);
      assert.equal((await shell.run("echo after it")).out, "after it\n");
    });

    it("stops a job and charges it at its end; it can be read and killed without any budget", async () => {
      const shell = await open();
      const job = await shell.spawn(`echo begun; ${LOOP}`);
      assert.equal(await left(shell), 0);
      await shell.until(job, "begun");
      assert.equal((await shell.refused("shell_exec", { command: "true" })).code, "BUDGET_EXCEEDED");
      const { notes, state } = await shell.finish(job);
      assert.equal(state, "killed");
      assert.match(String(notes), /RESOURCE_EXCEEDED, cpu: at most 1500, and it came to \d+/);
      await shell.ask("shell_kill", { job_id: job });
      assert.equal(await left(shell), 0);
      const short = await open(60_000);
      await short.finish(await short.spawn(burn(300)));
      const used = 60_000 - ((await left(short)) ?? 0);
      assert.ok(used >= 300 && used < 3000, `${used} ms`);
    });

    it("charges the full time of a job that the operating system ended for its time", async () => {
      const shell = await open();
      const { notes, state } = await shell.finish(await shell.spawn("kill -XCPU $$"));
      assert.equal(state, "killed");
      assert.match(String(notes), /RESOURCE_EXCEEDED, cpu: at most 1500, and it came to 2\d{3}$/);
      assert.equal(await left(shell), 0);
    });

    it("is overspent by twenty concurrent calls by at most a second each", async () => {
      const shell = await open(3000);
      const results = await Promise.all(Array.from({ length: 20 }, (_, n) => shell.session.call("burner", n)));
      const ran = results.filter(({ status }) => status === "success");
      const denied = results.filter(
        ({ response: { result } }) => result.case === "denied" && result.value.rationaleCode === "BUDGET_EXCEEDED",
      );
      assert.deepEqual([ran.length, denied.length], [6, 14]);
      const each = await spent(shell);
      for (const used of each) assert.ok(used >= 500 && used <= 500 + ROUNDING, `${used} ms`);
      assert.equal(each.length, ran.length);
      assert.equal(await left(shell), 0);
    });
  });
}
