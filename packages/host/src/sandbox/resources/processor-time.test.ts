import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { startContained } from "../start-contained.ts";
import { createTestSandbox, type TestSandbox } from "../testing/test-sandbox.ts";
import { type ControlGroups, findControlGroups } from "./control-groups.ts";
import { TreeCpuTime } from "./tree-cpu-time.ts";
import type { CpuLimitCheck } from "./watch-resources.ts";

/** Burns time until it has used so much itself; it does not matter how long that takes. */
const burn = (ms: number): string => `perl -e '1 while (times)[0] + (times)[1] < ${ms / 1000}'`;
const MANY = "for i in 1 2 3 4; do (while :; do :; done) & done; wait";

let sandbox: TestSandbox;
let groups: ControlGroups | undefined;
before(async () => {
  sandbox = await createTestSandbox();
  groups = await findControlGroups();
});
after(async () => {
  await groups?.close();
  await sandbox.remove();
});

async function run(script: string, options: { readonly useGroups: boolean; readonly judge?: CpuLimitCheck }) {
  const parts = { ...sandbox, groups: options.useGroups ? groups : undefined };
  const program = await startContained(parts, sandbox.plan, ["/bin/sh", "-c", script]);
  program.processor.setCheck(options.judge);
  program.stdin.end();
  program.stdout.resume();
  program.stderr.resume();
  const { exceeded, exitCode } = await program.ended;
  return { exceeded, exitCode, cpuMs: program.processor.cpuMs };
}

/** Everything at most so much. */
const atMost =
  (allowed: number): CpuLimitCheck =>
  (cpuMs) =>
    cpuMs > allowed ? { limit: "cpu", allowed, peak: cpuMs } : undefined;

describe("time on the processor, counted by a control group", { timeout: 120_000 }, () => {
  test("covers the whole process tree, including processes that are never reaped", async (context) => {
    if (groups === undefined) return context.diagnostic("control groups cannot be made here");
    const { cpuMs } = await run(`${burn(150)} & (setsid ${burn(150)} &); wait; sleep 0.5`, { useGroups: true });
    assert.ok(cpuMs >= 250 && cpuMs < 3000, `${cpuMs} ms`);
  });

  test("is each program's own, where a group is used again", async (context) => {
    if (groups === undefined) return context.diagnostic("control groups cannot be made here");
    const first = await run(burn(800), { useGroups: true });
    const second = await run("true", { useGroups: true });
    assert.ok(first.cpuMs >= 800, `${first.cpuMs} ms`);
    assert.ok(second.cpuMs > 0 && second.cpuMs < 500, `${second.cpuMs} ms`);
  });

  test("is known of a program that was killed", async (context) => {
    if (groups === undefined) return context.diagnostic("control groups cannot be made here");
    const program = await startContained({ ...sandbox, groups }, sandbox.plan, [
      "/bin/sh",
      "-c",
      `${burn(300)}; echo burnt; sleep 1000`,
    ]);
    program.stderr.resume();
    await new Promise((resolve) => program.stdout.once("data", resolve));
    program.kill();
    // Bubblewrap may still say how the program ended before it is killed itself.
    await program.ended.catch((fault: unknown) => assert.ok(isKernelError(fault) && fault.code === "SANDBOX_ERROR"));
    assert.ok(program.processor.cpuMs >= 300, `${program.processor.cpuMs} ms`);
  });
});

for (const useGroups of [true, false]) {
  const how = useGroups ? "with control groups where there are any" : "with the watchdog alone";
  describe(`a sandbox that uses the processor, ${how}`, { timeout: 120_000 }, () => {
    test("is said to have used it", async () => {
      // Goes on a little, so that somebody looks after the burning.
      const { cpuMs, exitCode } = await run(`${burn(300)}; sleep 0.5`, { useGroups });
      assert.equal(exitCode, 0);
      // Linux tells others in hundredths of a second.
      assert.ok(cpuMs >= 280 && cpuMs < 3000, `${cpuMs} ms`);
    });

    test("is ended when all its processes together have used more than they may", async () => {
      const { exceeded, exitCode, cpuMs } = await run(MANY, { useGroups, judge: atMost(400) });
      assert.equal(exitCode, undefined);
      assert.deepEqual([exceeded?.limit, exceeded?.allowed], ["cpu", 400]);
      assert.ok((exceeded?.peak ?? 0) > 400 && cpuMs >= (exceeded?.peak ?? 0), JSON.stringify(exceeded));
    });
  });
}

test("a process with a name that looks like figures is counted by its figures", async () => {
  const time = new TreeCpuTime();
  const started = await sandbox.start(["/usr/bin/perl", "-e", '$0 = "a) R 1 9 9 9 9 9 9 9 9 9 99999 99999"; <STDIN>']);
  const pid = await started.pid;
  const children = `/proc/${pid}/task/${pid}/children`;
  while ((await readFile(children, "latin1")) === "") await new Promise((resolve) => setImmediate(resolve));
  const [inner = ""] = (await readFile(children, "latin1")).split(" ");
  while (!(await readFile(`/proc/${inner}/stat`, "latin1")).includes("(a) R")) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await time.sample(pid);
  assert.ok(time.cpuMs < 60_000, `${time.cpuMs} ms`);
  started.stdin.end();
  started.stdout.resume();
  started.stderr.resume();
  await started.ended;
});
