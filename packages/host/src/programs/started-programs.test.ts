import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createTestSandbox, type TestSandbox } from "../sandbox/testing/test-sandbox.ts";
import { StartedPrograms } from "./started-programs.ts";

describe("the programs that a kernel has started", () => {
  let directory: string;
  let sandbox: TestSandbox;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-started-"));
    sandbox = await createTestSandbox();
  });
  after(async () => {
    await sandbox.remove();
    await rm(directory, { recursive: true });
  });

  /** A kernel's notes, and those of the kernel after it, which neither waits nor kills. */
  const kernels = () => [new StartedPrograms(directory), new StartedPrograms(directory, -1)] as const;
  const fileOf = (run: string): string => join(directory, run.split(" ").at(-1) ?? "");

  /** Starts a program under its notes, as far as its first line. */
  async function start(notes: StartedPrograms, call: string, script: string) {
    const started = await sandbox.start(["/bin/sh", "-c", script], {}, (pid) => notes.note(call, pid));
    await once(started.stdout, "data");
    return started;
  }

  test("have ended when all of them have, also those that detached; not before", async () => {
    const [notes, next] = kernels();
    const run = await notes.run();
    const first = await start(notes, "a", "(setsid nohup sleep 1000 >/dev/null 2>&1 &); echo x; sleep 1000");
    const second = await start(notes, "b", "echo x; sleep 1000");
    assert.deepEqual([await next.haveEnded(run, "a"), await next.haveEnded(run, "b")], [false, false]);
    first.kill();
    await first.ended.catch(() => undefined);
    // The system ends the others of its namespace a moment later.
    while (!(await next.haveEnded(run, "a"))) await pause(5);
    assert.equal(await next.haveEnded(run, "b"), false);
    assert.equal(await new StartedPrograms(directory).haveEnded(run, "b"), true, "it is killed then");
    await second.ended.catch(() => undefined);
    assert.equal(await next.haveEnded(run, "never started"), true);
    await notes.close();
  });

  test("are not proven to have ended where a note is missing, damaged, cut or says that nothing can be proven", async () => {
    const [notes, next] = kernels();
    const run = await notes.run();
    await notes.noteUnproven("unproven");
    assert.deepEqual([await next.haveEnded(run, "unproven"), await next.haveEnded(run, "a")], [false, true]);
    const whole = await readFile(fileOf(run), "latin1");
    for (const damaged of ["", "another format\n", whole.slice(0, -1), `${whole}{"call":"a"}\n`, `${whole}[]\n`]) {
      await writeFile(fileOf(run), damaged);
      assert.equal(await next.haveEnded(run, "a"), false, damaged);
    }
    await rm(fileOf(run));
    assert.equal(await next.haveEnded(run, "a"), false);
    await notes.close();
  });

  test("are compared only within one start of the machine and its namespaces", async () => {
    const [notes, next] = kernels();
    const run = await notes.run();
    const [boot = "", processes = "", times = "", name = ""] = run.split(" ");
    const running = await start(notes, "a", "echo x; sleep 1000");
    const other = boot.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    for (const [changed, ended] of [
      [run, false],
      [[other, processes, times, name].join(" "), true],
      [[boot, "pid:[1]", times, name].join(" "), false],
      [[boot, processes, "time:[1]", name].join(" "), false],
      [[boot, processes, times, `../${name}`].join(" "), false],
      [["", processes, times, name].join(" "), false],
      ["", false],
    ] as const) {
      assert.equal(await next.haveEnded(changed, "a"), ended, changed);
    }
    running.kill();
    await running.ended.catch(() => undefined);
    await notes.close();
  });

  test("are told from other processes with the same number by the time at which those began", async () => {
    const [notes, next] = kernels();
    const run = await notes.run();
    const note = (startTime: string): string => `${JSON.stringify({ call: "a", pid: process.pid, startTime })}\n`;
    await appendFile(fileOf(run), note("1"));
    assert.equal(await next.haveEnded(run, "a"), true);
    const [, began = ""] = /\) (?:\S+ ){19}(\d+)/.exec(await readFile("/proc/self/stat", "latin1")) ?? [];
    await appendFile(fileOf(run), note(began));
    assert.equal(await next.haveEnded(run, "a"), false);
    await notes.close();
  });

  test("are noted only in a process namespace of their own, and nothing runs that is not noted", async () => {
    const [notes] = kernels();
    await assert.rejects(notes.note("a", process.pid), { code: "SANDBOX_ERROR" });
    await notes.run();
    await notes.close();
    const started = await sandbox.start(["/bin/sh", "-c", "touch ran-anyway"], {}, (pid) => notes.note("a", pid));
    await assert.rejects(started.ended, { code: "STORE_UNAVAILABLE" });
    assert.ok(!(await readdir(sandbox.workspace)).includes("ran-anyway"));
  });

  test("are forgotten with their calls, so that the file does not grow, and files of earlier kernels when they are settled", async () => {
    const [notes, next] = kernels();
    const run = await notes.run();
    await notes.noteUnproven("kept");
    for (let number = 0; number < 6000; number++) {
      await notes.noteUnproven(`call-${number}`);
      notes.endCall(`call-${number}`);
    }
    assert.ok((await stat(fileOf(run))).size < 300_000);
    assert.deepEqual([await next.haveEnded(run, "kept"), await next.haveEnded(run, "call-0")], [false, true]);
    const own = await next.run();
    await next.forget(new Set([run]));
    assert.deepEqual(
      (await readdir(directory)).sort(),
      [fileOf(run), fileOf(own)].map((path) => path.slice(-32)).sort(),
    );
    await next.forget(new Set());
    assert.deepEqual(await readdir(directory), [fileOf(own).slice(-32)]);
    await notes.close();
    await next.close();
  });
});
