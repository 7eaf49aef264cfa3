import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { access, chown, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import { kernelProgram } from "../built/kernel-program.ts";
import { createHostedHome, createTestHome, ended, objectOf, objectsOf, textOf, type TestHome } from "./home.ts";

const CRASHING = new URL("./crashing-kernel.ts", import.meta.url);

describe("journal after a crash in the middle of an effect", { timeout: 60_000 }, () => {
  let at: TestHome;
  let sessionId: string;
  before(async () => {
    at = await createTestHome();
    const words = kernelProgram(CRASHING, at.home, at.workspace);
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    for await (const chunk of child.stdout) {
      said += chunk;
      if (said.includes("running\n")) child.kill("SIGKILL");
    }
    await ended(child);
    sessionId = said.split("\n")[0] ?? "";
  });
  after(() => at.remove());

  it("lists the call, accepts one settlement, and records its author in the ledger", async () => {
    const [intent, ...others] = objectsOf((await at.ask(["journal"]))["intents"]);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [intent?.["session_id"], intent?.["request_id"], intent?.["state"]],
      [sessionId, "risky", "unknown"],
    );
    const settled = await at.ask(["journal", "settle", sessionId, "risky", "--did-not-happen", "--by", "ada"]);
    assert.equal(settled["answer"], "did_not_happen");
    const record = await at.ask(["ledger", "show", JSON.stringify(settled["record_index"])]);
    const entries = objectsOf(record["entries"]).map((entry) => objectOf(entry["outcome_settled"]));
    assert.deepEqual([entries[0]?.["answer"], entries[0]?.["by"]], ["did_not_happen", "ada"]);
    assert.deepEqual((await at.ask(["journal"]))["intents"], []);
    const again = await at.ask(["journal", "settle", sessionId, "risky", "--happened", "--by", "eve"], 1);
    assert.equal(objectOf(again["error"])["code"], "INTENT_NOT_FOUND");
    assert.equal((await at.ask(["ledger", "verify"]))["intact"], true);
  });
});

const RULES = '@id("shell") @approve("none") permit(principal, action == Action::"shell_exec", resource);\n';
/** Leaves its parent, its session and its group, and writes as long as it lives. */
const DETACHED =
  "(setsid nohup sh -c 'while :; do echo . >> heartbeat; sleep 0.01; done' >/dev/null 2>&1 &); sleep 1000";
const FIRST_SLEEPS = "test -e again && echo ran || { touch plain; sleep 1000; }";

describe("a kernel that was killed while contained programs ran", { timeout: 120_000 }, () => {
  let at: TestHome;
  let sessionId: string;
  before(async () => {
    at = await createHostedHome();
    if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
    await at.ask(["init"]);
    await writeFile(join(at.home, "policy/shell.cedar"), RULES, { mode: 0o600 });
    const { child } = await at.serve();
    sessionId = (await at.openSession()).id;
    const clients = [
      ["detached", DETACHED],
      ["plain", FIRST_SLEEPS],
    ].map(([id = "", command]) => at.start(["call", "shell_exec", JSON.stringify({ command }), ...callOf(id)]));
    for (const name of ["heartbeat", "plain"]) await until(join(at.workspace, name));
    child.kill("SIGKILL");
    await Promise.all([child, ...clients].map(ended));
  });
  after(() => at.remove());

  const callOf = (id: string): string[] => ["--session", sessionId, "--request-id", id];
  const call = (id: string, command: string, code?: number) =>
    at.ask(["call", "shell_exec", JSON.stringify({ command }), ...callOf(id)], code);

  it("settles their calls as killed: an equal call runs at once, and the call itself does not run again", async () => {
    assert.deepEqual((await at.ask(["journal"]))["intents"], []);
    const before = await readFile(join(at.workspace, "heartbeat"), "utf8");
    const killed = await call("detached", DETACHED, 1);
    assert.deepEqual(
      [killed["error_code"], killed["effects_possible"], killed["repeated_answer"]],
      ["KILLED", true, true],
    );
    await writeFile(join(at.workspace, "again"), "");
    const again = await call("another", FIRST_SLEEPS);
    assert.equal(again["view"], "ran\n");
    assert.equal((await call("plain", FIRST_SLEEPS, 1))["error_code"], "KILLED");
    assert.equal(await readFile(join(at.workspace, "heartbeat"), "utf8"), before, "what detached has ended");
    const { stdout, stderr } = await at.run([
      "call",
      "shell_exec",
      JSON.stringify({ command: FIRST_SLEEPS }),
      ...callOf("plain"),
    ]);
    assert.equal(stdout, "");
    assert.match(
      stderr,
      /its programs with it; what they had changed in the workspace.*\ncode: {2}KILLED, effects are possible\nnext:/,
    );
  });

  it("records it in a ledger that verifies and replays", async () => {
    const { stdout } = await at.run(["ledger", "list", "--session", sessionId]);
    assert.match(stdout, /detached killed, says reconciled/);
    const records = objectsOf((await at.ask(["ledger", "list", "--session", sessionId]))["records"]);
    const entries = records.flatMap((record) => objectsOf(record["entries"]));
    const outcomes = entries.flatMap((entry) =>
      entry["tool_failed"] === undefined ? [] : [objectOf(entry["tool_failed"])],
    );
    assert.deepEqual(
      outcomes.map((outcome) => textOf(outcome["code"])),
      ["KILLED", "KILLED"],
    );
    assert.equal((await at.ask(["ledger", "verify"]))["intact"], true);
    await at.ask(["replay", sessionId]);
  });
});

async function until(path: string): Promise<void> {
  for (;;) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await pause(20);
  }
}
