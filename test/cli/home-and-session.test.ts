import assert from "node:assert/strict";
import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { after, before, describe, it, test } from "node:test";
import { openHome } from "@narthex/host";
import { createHostedHome, createTestHome, objectOf, objectsOf, type TestHome, textOf } from "./home.ts";

/** A process of its own, as everybody runs commands; the others have one process together. */
const ALONE = { ownProcess: true };

async function createOwnedHome(): Promise<TestHome> {
  const at = await createHostedHome();
  if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
  return at;
}

describe("narthex init", { timeout: 60_000 }, () => {
  let at: TestHome;
  before(async () => {
    at = await createHostedHome();
  });
  after(() => at.remove());

  it("writes a configuration with explanations, and the default policy, private to their owner", async () => {
    const { home, written } = await at.ask(["init"], 0, ALONE);
    assert.equal(home, at.home);
    const configuration = await readFile(join(at.home, "narthex.yaml"), "utf8");
    assert.ok(configuration.split("\n").filter((line) => line.startsWith("#")).length > 10, "it has no comments");
    const names = await readdir(new URL("../../policies", import.meta.url));
    const rules = names.filter((name) => name.endsWith(".cedar"));
    assert.ok(rules.length > 0);
    for (const name of rules) {
      const copied = join(at.home, "policy", name);
      assert.equal(
        await readFile(copied, "utf8"),
        await readFile(new URL(`../../policies/${name}`, import.meta.url), "utf8"),
      );
      assert.ok(Array.isArray(written) && written.includes(copied), copied);
    }
    assert.equal((await stat(at.home)).mode & 0o077, 0);
    assert.equal((await stat(join(at.home, "narthex.yaml"))).mode & 0o077, 0);
  });

  it("overwrites nothing", async () => {
    await writeFile(join(at.home, "narthex.yaml"), "# mine\n");
    await writeFile(join(at.home, "policy/default.cedar"), "// mine\n");
    assert.deepEqual((await at.ask(["init"]))["written"], []);
    assert.equal(await readFile(join(at.home, "narthex.yaml"), "utf8"), "# mine\n");
    assert.equal(await readFile(join(at.home, "policy/default.cedar"), "utf8"), "// mine\n");
  });
});

test("the default home is .narthex in the user's home", async (context) => {
  const at = await createHostedHome();
  context.after(() => at.remove());
  const { home } = await at.ask(["init"], 0, { env: { NARTHEX_DATA: undefined } });
  assert.equal(home, join(at.root, ".narthex"));
  assert.ok((await readdir(join(at.root, ".narthex"))).includes("narthex.yaml"));
  await assert.rejects(readdir(at.home), { code: "ENOENT" });
});

test("a command waits five seconds for a locked home, names the holder, and gives up", {
  timeout: 120_000,
}, async (context) => {
  const at = await createTestHome();
  context.after(() => at.remove());
  const holder = await openHome({ path: at.home, command: "a test", waitMs: 0 });
  context.after(() => holder.close());
  const startedMs = performance.now();
  const { code, stderr } = await at.run(["session", "list"]);
  const tookMs = performance.now() - startedMs;
  assert.equal(code, 5, stderr);
  assert.match(stderr, /a test/);
  assert.ok(tookMs >= 5000 && tookMs < 30_000, `${tookMs} ms`);
});

test("a command gets a home that is released while it waits", { timeout: 60_000 }, async (context) => {
  const at = await createTestHome();
  context.after(() => at.remove());
  const holder = await openHome({ path: at.home, command: "a test", waitMs: 0 });
  const child = at.run(["session", "list", "--json"]);
  await holder.close();
  assert.equal((await child).code, 0);
});

describe("narthex session open", { timeout: 120_000 }, () => {
  it("--cwd sets where relative paths start, for tools and for commands, inside the workspace only", async (context) => {
    const at = await createOwnedHome();
    context.after(() => at.remove());
    await mkdir(join(at.workspace, "sub"));
    if (process.getuid?.() === 0) await chown(join(at.workspace, "sub"), 1000, 1000);
    await chmod(at.workspace, 0o755);
    const { id } = await at.openSession("--cwd", "sub");
    const shown = await at.ask(["session", "show", id]);
    assert.equal(shown["working_directory"], join(at.workspace, "sub"));
    await at.ask(["call", "file_write", '{"path": "here", "content": "x"}', "--session", id], 0, ALONE);
    assert.equal(await readFile(join(at.workspace, "sub/here"), "utf8"), "x");
    for (const outside of ["..", "/etc", "../workspace-other"]) {
      const { code, stderr } = await at.run(["session", "open", "--workspace", at.workspace, "--cwd", outside]);
      assert.notEqual(code, 0, outside);
      assert.match(stderr, /must lie in the workspace/);
    }
  });

  it("is quarantined after the configured number of violations in the configured time", async (context) => {
    const at = await createOwnedHome();
    context.after(() => at.remove());
    await at.ask(["init"]);
    await writeFile(join(at.home, "narthex.yaml"), "session: {quarantine: {violations: 2, window_ms: 3600000}}\n");
    const serving = await at.serve();
    const { id } = await at.openSession();
    const escape = ["call", "file_read", '{"path": "/etc/passwd"}', "--session", id];
    for (let i = 0; i < 2; i++) assert.equal((await at.ask(escape, 1))["error_code"], "PATH_ESCAPE");
    assert.equal((await at.ask(escape, 3))["rationale_code"], "SESSION_QUARANTINED");
    assert.equal((await at.ask(["session", "show", id]))["state"], "quarantined");
    assert.equal(await serving.stop(), 0);
  });
});

test("narthex tools show prints capabilities, effects, determinism and bounds, as JSON and as text", {
  timeout: 60_000,
}, async (context) => {
  const at = await createHostedHome();
  context.after(() => at.remove());
  const tool = await at.ask(["tools", "show", "db_query"]);
  assert.deepEqual(
    new Set(objectsOf(tool["capabilities"]).map(({ kind }) => kind)),
    new Set(["db_read", "db_write", "fs_read", "fs_write"]),
  );
  assert.deepEqual(tool["effects"], ["fs_read", "fs_write", "db_read", "db_write"]);
  assert.equal(tool["determinism"], "deterministic");
  assert.equal(objectOf(tool["bounds"])["timeout_ms"], 60_000);
  const { code, stdout } = await at.run(["tools", "show", "db_query"], ALONE);
  assert.equal(code, 0);
  assert.match(stdout, /^determinism +deterministic$/m);
  assert.match(stdout, /^effects +fs_read, fs_write, db_read, db_write$/m);
  assert.match(stdout, /^capabilities .*"kind":"db_read"/m);
  assert.match(stdout, /^time-out +1 min 0 s$/m);
  assert.match(textOf(tool["safety_tier"]), /^side_effecting$/);
});
