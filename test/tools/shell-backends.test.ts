import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import {
  create,
  fromBinary,
  type JsonObject,
  KernelService,
  MAX_COMMAND_LEN,
  MAX_TIMEOUT_MS,
  RecordSchema,
  ToolRequestSchema,
} from "@narthex/contracts";
import { createTestHome, objectOf, objectsOf, parseObject, readLines, type TestHome, textOf } from "../cli/home.ts";
import { connectTo, createShellKernel, processesWith, type ShellKernel, type ShellSession } from "./shell-kernel.ts";

describe("the backend of shell commands", { timeout: 240_000 }, () => {
  it("is a fresh sandbox for each call unless the configuration says otherwise", async () => {
    await using at = await disposable(await createShellKernel(undefined));
    const shell = await at.open();
    await shell.run("cd /tmp; kept=1; echo x > /tmp/file; mkdir /workspace/own; sleep 300 & true");
    const { out, notes } = await shell.run("pwd; echo [$kept]; ls /tmp/file; ls /proc | grep -c '^[0-9]'");
    assert.match(out, /^\/workspace\n\[\]\n\d+\n$/);
    assert.ok(Number(out.split("\n")[2]) < 6, "nothing of the first call runs in the second");
    assert.deepEqual(notes, []);
    const fed = await shell.run("cat; echo $NAME; pwd; exit 3", { stdin: "input", env: { NAME: "value" }, cwd: "own" });
    assert.deepEqual([fed.code, fed.out], [3, "inputvalue\n/workspace/own\n"]);
  });

  for (const backend of ["sandbox", "session", "host"] as const) {
    it(`${backend} shows a command's output while it runs, and runs commands of up to 1 MB`, async (t) => {
      await using at = await disposable(await createShellKernel(backend));
      const shell = await at.open();
      await streams(at, shell);
      await t.test(`${backend} does not change the working directory of other tools`, () => staysPut(shell));
      const script = 'IFS= read -r line; echo "$line $#"; cat <<E\nin $NAME\nE\nfalse || exit 7\n';
      const options = { stdin: "from input\n", env: { NAME: "value" }, timeout_ms: MAX_TIMEOUT_MS };
      for (const size of [64 * 1024 + 1, MAX_COMMAND_LEN]) {
        const command = `${script}# it's ü`;
        const padding = "x".repeat(size - Buffer.byteLength(command));
        const { code, out, err } = await shell.run(command + padding, options);
        assert.deepEqual([code, out, err], [7, "from input 0\nin value\n", ""], `${size} bytes`);
      }
      const long = `echo started; ${"#".repeat(200_000)}\npwd; exit 3`;
      assert.match(String((await shell.finish(await shell.spawn(long)))["text"]), /^started\n.*workspace.*\n$/);
      const violations = await refusedFields(shell, { command: "ü".repeat(MAX_COMMAND_LEN / 2 + 1) });
      assert.deepEqual(violations, ["command max_length"]);
    });
  }

  it("disabled denies every tool of the shell with the reason, and runs nothing", async () => {
    await using at = await disposable(await createShellKernel("disabled"));
    const shell = await at.open();
    const inputs = {
      shell_exec: { command: "touch ran" },
      shell_spawn: { command: "touch ran" },
      shell_output: { job_id: "x" },
      shell_input: { job_id: "x", data: "" },
      shell_kill: { job_id: "x" },
    };
    for (const [tool, input] of Object.entries(inputs)) {
      const { result } = (await shell.session.call(tool, input)).response;
      assert.ok(result.case === "error", tool);
      const { errorCode, effectsPossible, message } = result.value;
      assert.deepEqual([errorCode, effectsPossible], ["SANDBOX_UNAVAILABLE", false], tool);
      assert.match(message, /^`shell\.backend` is `disabled` in narthex\.yaml: set it to `sandbox`/);
    }
    assert.deepEqual(await readdir(at.workspace), []);
    const entries = (await at.kernel.listRecords({ chain: shell.session.id, limit: 100 })).flatMap(
      ({ record }) => fromBinary(RecordSchema, record).entries,
    );
    assert.ok(!entries.some(({ kind }) => kind.case === "toolStarted"), "no intent was written");
    const other = (await shell.session.call("git", { operation: "STATUS" })).response.result;
    assert.ok(other.case !== "error" || other.value.errorCode !== "SANDBOX_UNAVAILABLE", "other programs run");
  });

  it("is shown in the ledger and by doctor, which chooses only the sandbox by itself", async () => {
    const home = await createTestHome();
    try {
      assert.equal((await doctor(home))["shell_backend"], "sandbox");
      await mkdir(home.home, { mode: 0o700 });
      await writeFile(join(home.home, "narthex.yaml"), "shell: { backend: session }\n");
      await home.openSession();
      const { records } = await home.ask(["ledger", "list", "--limit", "50"]);
      assert.match(JSON.stringify(records), /shell_backend[^,]*session/);
      await writeFile(join(home.home, "narthex.yaml"), "shell: { backend: disabled }\n");
      const report = await home.ask(["doctor"], 1);
      const classes = objectsOf(report["tool_classes"]).map(({ name, state }) => [name, state]);
      assert.deepEqual([report["shell_backend"], Object.fromEntries(classes)["shell"]], ["disabled", "disabled"]);
      const listed = objectsOf((await home.ask(["tools", "list"]))["tools"]);
      for (const { name, state } of listed) {
        assert.equal(state === "disabled", /^(?:shell|vault)_/.test(textOf(name)), textOf(name));
      }
      const shown = await home.ask(["tools", "show", "shell_exec"]);
      assert.deepEqual([shown["state"], objectOf(shown["bounds"])["max_output_bytes"]], ["disabled", 16_384]);
      const offered = await toolsOverMcp(home);
      assert.ok(offered.includes("file_read") && !offered.some((name) => name.startsWith("shell_")), String(offered));
      await writeFile(join(home.home, "narthex.yaml"), "shell: { backend: hosts }\n");
      const wrong = await home.run(["session", "open", "--workspace", home.workspace]);
      assert.notEqual(wrong.code, 0);
      assert.match(wrong.stderr, /shell\.backend.*must be one of sandbox, session, disabled, host/);
    } finally {
      await home.remove();
    }
  });
});

describe("the host as shell backend", { timeout: 120_000 }, () => {
  it("runs without root rights in an empty environment, and labels everything it made", async () => {
    process.env["NARTHEX_TEST_LEAK"] = "leaked-onto-the-host";
    await using at = await disposable(await createShellKernel("host"));
    const shell = await at.open();
    const { response, raw } = await shell.session.call("shell_exec", { command: "env; id -u; pwd; exit 6" });
    delete process.env["NARTHEX_TEST_LEAK"];
    assert.ok(response.result.case === "success");
    assert.deepEqual(response.result.value.labels, ["host"]);
    const { exit_code: code, stdout } = raw as { exit_code: number; stdout: { text: string } };
    assert.equal(code, 6);
    assert.ok(!stdout.text.includes("leaked-onto-the-host"));
    assert.match(stdout.text, new RegExp(`\n${(await stat(at.workspace)).uid}\n${at.workspace}\n$`));
    const failed = await shell.session.call("shell_exec", { command: "echo part; sleep 300", timeout_ms: 300 });
    assert.equal(failed.status, "error");
    const job = await shell.spawn("echo from the host");
    assert.equal((await shell.finish(job))["text"], "from the host\n");
    const outcomes = await outcomesOf(at, shell);
    assert.ok(outcomes.length >= 4);
    for (const { kind, labels } of outcomes) assert.deepEqual([...labels], ["host"], kind);
  });

  it("kills the process group at the time-out, and does not wait for processes that left it", async () => {
    await using at = await disposable(await createShellKernel("host"));
    const shell = await at.open();
    const mark = `narthex-host-${process.pid}`;
    const command = `trap "" TERM; (exec -a ${mark} sleep 300) & echo begun; wait`;
    const refused = await shell.refused("shell_exec", { command, timeout_ms: 400 });
    assert.equal(refused.code, "TIMEOUT");
    for (let tries = 0; (await processesWith(mark)).length > 0; tries++) {
      assert.ok(tries < 500, "processes are left");
      await setTimeout(10);
    }
    const left = await shell.run("setsid sleep 20 & echo answered");
    assert.equal(left.out, "answered\n");
  });

  it("is denied in a workspace of root's", async (context) => {
    if (process.getuid?.() !== 0) return context.diagnostic("only root can make a workspace of root's");
    await using at = await disposable(await createShellKernel("host"));
    const owned = await mkdtemp(join(tmpdir(), "narthex-root-owned-"));
    try {
      const shell = await at.open(owned);
      assert.equal((await shell.refused("shell_exec", { command: "touch ran" })).code, "SANDBOX_UNAVAILABLE");
      assert.deepEqual(await readdir(owned), []);
    } finally {
      await rm(owned, { recursive: true });
    }
  });
});

async function disposable(at: ShellKernel): Promise<ShellKernel & AsyncDisposable> {
  return { ...at, [Symbol.asyncDispose]: () => at.remove() };
}

async function doctor(home: Awaited<ReturnType<typeof createTestHome>>): Promise<Record<string, unknown>> {
  const { stdout } = await home.run(["doctor", "--json"]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function staysPut(shell: ShellSession): Promise<void> {
  await shell.run("mkdir -p moved; echo inside > moved/note; echo root > note; cd moved; cat note");
  const { raw } = await shell.session.call("file_read", { path: "note" });
  assert.equal(String(raw), "root\n");
  const { raw: listed } = await shell.session.call("file_list", { path: "." });
  assert.match(JSON.stringify(listed), /"moved"/);
}

/** The command goes on only after the test has seen its first line. */
async function streams(at: ShellKernel, shell: ShellSession): Promise<void> {
  const command = "echo first; while [ ! -e seen ]; do sleep 0.02; done; rm seen; echo second >&2; exit 2";
  const request = create(ToolRequestSchema, {
    requestId: "streamed",
    sessionToken: shell.session.token,
    tool: { case: "call", value: { name: "shell_exec", input: Buffer.from(JSON.stringify({ command })) } },
  });
  let text = "";
  let code: unknown;
  for await (const { event } of createClient(KernelService, connectTo(at.kernel)).callStream(request)) {
    if (event.case === "chunk") {
      text += Buffer.from(event.value).toString();
      if (text === "first\n") await writeFile(join(at.workspace, "seen"), "", { mode: 0o666 });
    }
    if (event.case !== "response") continue;
    const { result } = event.value;
    if (result.case !== "success") assert.fail(result.value?.message);
    code = (JSON.parse(Buffer.from(result.value.inlineResult).toString()) as { exit_code: number }).exit_code;
  }
  assert.deepEqual([text, code], ["first\nsecond\n", 2]);
}

async function outcomesOf(at: ShellKernel, { session }: ShellSession) {
  const found: { readonly kind: string; readonly labels: readonly string[] }[] = [];
  for (const { record } of await at.kernel.listRecords({ chain: session.id, limit: 100 })) {
    for (const { kind } of fromBinary(RecordSchema, record).entries) {
      if (kind.case === "toolCompleted" || kind.case === "toolFailed" || kind.case === "toolTimedOut") {
        found.push({ kind: kind.case, labels: kind.value.labels });
      }
    }
  }
  return found;
}

async function refusedFields(shell: ShellSession, input: JsonObject): Promise<string[]> {
  const { result } = (await shell.session.call("shell_exec", input)).response;
  assert.ok(result.case === "error" && result.value.errorCode === "INVALID_INPUT");
  return result.value.violations.map(({ field, rule }) => `${field} ${rule}`);
}

/** The tools that an MCP client is offered. */
async function toolsOverMcp(home: TestHome): Promise<string[]> {
  const server = home.start(["mcp", "--workspace", home.workspace]);
  const next = readLines(server);
  const send = (message: object): boolean => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  send({ id: 1, method: "initialize", params });
  await next();
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/list" });
  const answer = parseObject(await next());
  server.stdin.end();
  return objectsOf(objectOf(answer["result"])["tools"]).map(({ name }) => textOf(name));
}
