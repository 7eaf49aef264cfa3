import assert from "node:assert/strict";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { create, KernelService, ToolRequestSchema } from "@narthex/contracts";
import { connectTo, createShellKernel, processesWith, type ShellKernel } from "./shell-kernel.ts";

for (const backend of ["session", "sandbox"] as const) {
  describe(`a background job, backend ${backend}`, { timeout: 240_000 }, () => {
    let at: ShellKernel;
    before(async () => {
      at = await createShellKernel(backend);
    });
    after(() => at.remove());

    it("continues after its call; its output is read by offset, its input written, its exit code reported", async () => {
      const shell = await at.open();
      const job = await shell.spawn(
        'echo started in $PWD with $WITH; read -r line; echo "got $line" >&2; cat; exit 4',
        {
          cwd: ".",
          env: { WITH: "care" },
        },
      );
      assert.match(await shell.until(job, "started"), /^started in \/workspace with care\n$/);
      const waiting = await shell.ask("shell_output", { job_id: job });
      assert.deepEqual([waiting["state"], waiting["exit_code"], waiting["next_offset"]], ["running", null, 32]);
      await shell.ask("shell_input", { job_id: job, data: "a line\nand more" });
      await shell.until(job, "and more");
      await shell.ask("shell_input", { job_id: job, data: "", close: true });
      const done = await shell.finish(job);
      assert.deepEqual([done["state"], done["exit_code"]], ["exited", 4]);
      assert.equal(done["text"], "started in /workspace with care\ngot a line\nand more");
      const again = await shell.ask("shell_output", { job_id: job, offset: 11 });
      assert.match(String(again["text"]), /^\/workspace with/);
      const closed = await shell.refused("shell_input", { job_id: job, data: "late" });
      assert.equal(closed.code, "EXECUTION_FAILED");
    });

    it("uses the same files as other commands, from its given directory", async () => {
      const shell = await at.open();
      await mkdir(join(at.workspace, "below")).catch(() => undefined);
      const job = await shell.spawn("while [ ! -e ../signal ]; do sleep 0.02; done; echo seen from $PWD", {
        cwd: "below",
      });
      await shell.run("touch signal");
      assert.equal((await shell.finish(job))["text"], "seen from /workspace/below\n");
    });

    it("is killed with its whole process tree, including hidden processes", async () => {
      const shell = await at.open();
      const mark = `narthex-job-${backend}-${process.pid}`;
      const job = await shell.spawn(
        `(setsid bash -c 'trap "" TERM INT HUP; exec -a ${mark} sleep 300' &); ` +
          `(bash -c 'kill -STOP $$' ${mark} &); trap "" TERM; echo ready; while :; do sleep 1; done`,
      );
      await shell.until(job, "ready");
      const killed = await shell.ask("shell_kill", { job_id: job });
      assert.deepEqual([killed["state"], killed["exit_code"]], ["killed", null]);
      await gone(mark);
      const twice = await shell.ask("shell_kill", { job_id: job });
      assert.equal(twice["state"], "killed");
      assert.equal((await shell.finish(job))["text"], "ready\n");
    });

    it("is killed at its time-out, and says so", async () => {
      const shell = await at.open();
      const job = await shell.spawn("echo begun; sleep 300", { timeout_ms: 400 });
      const done = await shell.finish(job);
      assert.deepEqual([done["state"], done["text"]], ["killed", "begun\n"]);
      assert.match(String(done["notes"]), /did not finish within 400 ms/);
    });

    it("is killed when its session's lease ends, and so is a concurrent command", async () => {
      const mark = `narthex-lease-${backend}-${process.pid}`;
      // A machine that is too busy to start both within the lease gets a longer one.
      for (let ttlMs = 1500; ; ttlMs *= 4) {
        const { session } = await at.open(undefined, { ttl_ms: ttlMs });
        const spawned = await session.call("shell_spawn", { command: `exec -a ${mark} sleep 300` });
        const { result } = (
          await session.call("shell_exec", { command: `touch run-${mark}; exec -a ${mark} sleep 300` })
        ).response;
        if (result.case === "denied" || !(await readdir(at.workspace)).includes(`run-${mark}`)) continue;
        assert.equal(spawned.response.result.case, "success");
        assert.ok(result.case === "error", result.case);
        assert.equal(result.value.errorCode, "CANCELLED");
        assert.match(result.value.message, /LEASE_EXPIRED/);
        break;
      }
      await gone(mark);
    });

    it("keeps only the last megabyte of its output, and says how much was dropped", async () => {
      const shell = await at.open();
      const job = await shell.spawn("head -c 5000000 /dev/zero | tr '\\0' x; printf end");
      while (
        (await shell.ask("shell_output", { job_id: job, offset: 6_000_000, wait_ms: 20_000 }))["state"] === "running"
      );
      const first = await shell.ask("shell_output", { job_id: job });
      assert.deepEqual(
        [first["size"], first["dropped"], first["offset"]],
        [5_000_003, 5_000_003 - 1_048_576, 3_951_427],
      );
      const rest = await shell.finish(job);
      assert.equal(String(rest["text"]).length, 1_048_576);
      assert.ok(String(rest["text"]).endsWith("xend"));
    });

    it("that changes a protected path has it restored at its end, and says so", async () => {
      const shell = await at.open();
      const job = await shell.spawn("echo evil > .envrc; echo fine > kept");
      const done = await shell.finish(job);
      assert.match(String(done["notes"]), /UNDECLARED_EFFECT.*`\.envrc`/);
      const names = await readdir(at.workspace);
      assert.ok(names.includes("kept") && !names.includes(".envrc"));
    });

    it("ends when the guards of its workspace change, and says why", async () => {
      const workspace = await at.makeWorkspace();
      const [shell, other] = [await at.open(workspace), await at.open(workspace)];
      const job = await shell.spawn("echo ready; sleep 300");
      await shell.until(job, "ready");
      await mkdir(join(workspace, ".vscode"));
      await other.run("true");
      const done = await shell.finish(job);
      assert.equal(done["state"], "killed");
      assert.match(String(done["notes"]), /protected paths of the workspace have changed/);
    });

    it("belongs to its session: another one cannot read it, write to it or kill it", async () => {
      const [mine, theirs] = [await at.open(), await at.open()];
      const job = await mine.spawn("echo private; sleep 300");
      await mine.until(job, "private");
      for (const [tool, rest] of [
        ["shell_output", {}],
        ["shell_kill", {}],
        ["shell_input", { data: "x" }],
      ] as const) {
        const refused = await theirs.refused(tool, { job_id: job, ...rest });
        assert.equal(refused.code, "INVALID_INPUT");
        assert.match(refused.message, /has no job/);
      }
      assert.equal((await mine.ask("shell_output", { job_id: job }))["state"], "running");
      const seen = await theirs.run("grep -al privat[e] /proc/[0-9]*/cmdline; true");
      assert.equal(seen.out, "");
    });

    it("has a fresh environment, and no input until some is written", async () => {
      const shell = await at.open();
      process.env["NARTHEX_TEST_LEAK"] = "leaked-into-a-job";
      const job = await shell.spawn("env; cat /proc/self/environ");
      delete process.env["NARTHEX_TEST_LEAK"];
      const text = String((await shell.finish(job))["text"]);
      assert.match(text, /^HOME=\/home\/agent$/m);
      assert.ok(!text.includes("leaked-into-a-job"));
    });

    it("is one of at most sixteen", async () => {
      const shell = await at.open();
      const jobs: string[] = [];
      for (let number = 0; number < 16; number++) jobs.push(await shell.spawn("sleep 300"));
      const refused = await shell.refused("shell_spawn", { command: "sleep 300" });
      assert.equal(refused.code, "RESOURCE_EXCEEDED");
      await shell.ask("shell_kill", { job_id: jobs[3] ?? "" });
      await shell.spawn("true");
      await at.kernel.closeSession(shell.session.id);
    });

    it("survives its client's connection, is found by the next, and never starts twice", async () => {
      const shell = await at.open();
      const mark = join(at.workspace, `runs-${backend}`);
      const command = `echo run >> runs-${backend}; echo up; sleep 300`;
      const call = (requestId: string, name: string, input: object) =>
        create(ToolRequestSchema, {
          requestId,
          sessionToken: shell.session.token,
          tool: { case: "call", value: { name, input: Buffer.from(JSON.stringify(input)) } },
        });
      const answerOf = async (request: ReturnType<typeof call>): Promise<Record<string, unknown>> => {
        // A transport of its own for each call: nothing of a connection is shared.
        const { result } = await createClient(KernelService, connectTo(at.kernel)).call(request);
        if (result.case !== "success") assert.fail(result.value?.message);
        return JSON.parse(Buffer.from(result.value.inlineResult).toString()) as Record<string, unknown>;
      };
      const first = await answerOf(call("spawn-once", "shell_spawn", { command }));
      await shell.until(String(first["job_id"]), "up");
      const repeated = await answerOf(call("spawn-once", "shell_spawn", { command }));
      assert.equal(repeated["job_id"], first["job_id"]);
      const seen = await answerOf(call("output-1", "shell_output", { job_id: first["job_id"] }));
      assert.deepEqual([seen["state"], seen["text"]], ["running", "up\n"]);
      assert.equal(await readFile(mark, "utf8"), "run\n");
    });

    it("ends with its session, and leaves no process", async () => {
      const shell = await at.open();
      const mark = `narthex-left-${backend}-${process.pid}`;
      const job = await shell.spawn(`(setsid bash -c 'exec -a ${mark} sleep 300' &); echo ready; sleep 300`);
      await shell.until(job, "ready");
      await at.kernel.closeSession(shell.session.id);
      await gone(mark);
    });

    it("ends with the kernel, and leaves no process", async () => {
      const closing = await createShellKernel(backend);
      const shell = await closing.open();
      const mark = `narthex-last-${backend}-${process.pid}`;
      const job = await shell.spawn(`(setsid bash -c 'exec -a ${mark} sleep 300' &); echo ready; sleep 300`);
      await shell.run(`(exec -a ${mark} sleep 300) & true`);
      await shell.until(job, "ready");
      await closing.remove();
      await gone(mark);
    });
  });
}

it("needs approval to start and to get input, but not to be read and ended", async () => {
  const approver = { door: "test", ask: async () => ({ approved: false, approver: "ann" }) };
  const at = await createShellKernel("session", { policies: [], approver });
  try {
    const shell = await at.open();
    for (const [tool, input] of [
      ["shell_exec", { command: "rm x" }],
      ["shell_spawn", { command: "true" }],
      ["shell_input", { job_id: "job_x", data: "" }],
    ] as const) {
      assert.equal((await shell.refused(tool, input)).code, "APPROVAL_DENIED", tool);
    }
    for (const tool of ["shell_output", "shell_kill"]) {
      assert.equal((await shell.refused(tool, { job_id: "job_x" })).code, "INVALID_INPUT", tool);
    }
    const narrow = await at.kernel.session({ workspace: at.workspace, lease: { highest_tier: "read_only" } });
    const read = await narrow.call("shell_output", { job_id: "job_x" });
    assert.ok(read.response.result.case === "error" && read.response.result.value.errorCode === "INVALID_INPUT");
    const killed = await narrow.call("shell_kill", { job_id: "job_x" });
    assert.ok(killed.response.result.case === "denied");
  } finally {
    await at.remove();
  }
});

async function gone(mark: string): Promise<void> {
  for (let tries = 0; (await processesWith(mark)).length > 0; tries++) {
    assert.ok(tries < 500, "processes are left");
    await setTimeout(10);
  }
}
