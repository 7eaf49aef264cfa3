import assert from "node:assert/strict";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { readdir } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { createTestHome, objectOf, parseObject, type TestHome, textOf } from "./home.ts";

describe("a wrong command line", { concurrency: 2 }, () => {
  let at: TestHome;
  before(async () => {
    at = await createTestHome();
  });
  after(() => at.remove());

  it("ends with 2, names the nearest command and writes nothing on the output stream", async () => {
    const { code, stdout, stderr } = await at.run(["ledgr", "list"]);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, /unknown command `ledgr`; did you mean `ledger`\?/);
    assert.match(stderr, /next: +run `narthex --help`/);
  });

  it("names the nearest option", async () => {
    const { code, stderr } = await at.run(["session", "open", "--worksapce", "x"]);
    assert.equal(code, 2);
    assert.match(stderr, /did you mean `--workspace`\?/);
  });

  it("prints one JSON object for scripts", async () => {
    const error = objectOf((await at.ask(["call"], 2))["error"]);
    assert.equal(error["code"], "USAGE");
    assert.match(textOf(error["next"]), /narthex call --help/);
  });

  it("says how to open a session if none is named", async () => {
    const { code, stderr } = await at.run(["call", "echo", "{}"]);
    assert.equal(code, 2);
    assert.match(stderr, /narthex session open --workspace DIR/);
  });

  it("rejects a token as an argument and does not repeat it", async () => {
    const token = `ntx_ses_${"a".repeat(20)}_${"b".repeat(43)}`;
    const { code, stdout, stderr } = await at.run(["call", "echo", "{}", "--session", token]);
    assert.equal(code, 2);
    assert.match(stderr, /NARTHEX_TOKEN/);
    assert.ok(!(stdout + stderr).includes("bbbb"));
  });

  it("does not resolve a session id outside the directory of tokens", async () => {
    const { code, stderr } = await at.run(["call", "echo", "{}", "--session", "../../../etc/passwd"]);
    assert.equal(code, 2);
    assert.match(stderr, /no session's id/);
  });

  it("rejects options that exclude each other, bad hashes and bad durations", async () => {
    for (const args of [
      ["journal", "settle", "ses_a", "r", "--happened", "--did-not-happen"],
      ["cas", "get", "zz"],
      ["session", "open", "--workspace", at.workspace, "--ttl", "soon"],
    ]) {
      const { code, stderr } = await at.run(args);
      assert.equal(code, 2, `${args.join(" ")}: ${stderr}`);
    }
  });

  it("rejects a repeated option, and does not repeat its values", async () => {
    const { code, stderr } = await at.run(["call", "echo", "{}", "--session", "ses_one", "--session", "ses_two"]);
    assert.equal(code, 2);
    assert.match(stderr, /`--session <[a-z]+>` is given twice/);
    assert.doesNotMatch(stderr, /ses_/);
  });

  it("leaves no trace in the home", async () => {
    await at.run(["session", "show"]);
    await assert.rejects(readdir(at.home), { code: "ENOENT" });
  });
});

describe("help", { concurrency: 2 }, () => {
  let at: TestHome;
  before(async () => {
    at = await createTestHome();
  });
  after(() => at.remove());

  it("shows examples and names the exit codes", async () => {
    const { code, stdout } = await at.run(["--help"]);
    assert.equal(code, 0);
    for (const part of ["Start here:", "narthex serve --first-session", "ledger verify", "3 denied"]) {
      assert.ok(stdout.includes(part), part);
    }
  });

  it("has an example for every command, loaded or not", async () => {
    for (const args of [
      ["help", "cas", "put"],
      ["call", "--help"],
      ["ledger", "verify", "-h"],
      ["journal", "--help"],
    ]) {
      const { code, stdout } = await at.run(args);
      assert.equal(code, 0);
      assert.match(stdout, /Examples?:\n {2}\$ narthex /);
      assert.ok(stdout.includes("--json"));
    }
  });

  it("is printed as a usage error for a group without a command", async () => {
    const { code, stdout, stderr } = await at.run(["session"]);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, /Usage: narthex session/);
  });

  it("is rejected for an unknown command, with 2", async () => {
    for (const args of [
      ["nonsense", "--help"],
      ["help", "nonsense"],
      ["ledger", "nonsense", "-h"],
      ["approvals", "nonsense", "--help"],
    ]) {
      const { code, stdout, stderr } = await at.run(args);
      assert.deepEqual([code, stdout], [2, ""], args.join(" "));
      assert.match(stderr, /unknown command `nonsense`/);
    }
  });

  it("has no colour outside a terminal", async () => {
    const { stderr } = await at.run(["nonsense"], { env: { FORCE_COLOR: "1" } });
    assert.ok(!stderr.includes("\u001b"));
    assert.equal(parseObject((await at.run(["nonsense", "--json"])).stdout)["error"] !== undefined, true);
  });
});

it("output that is not read to its end is no error", async () => {
  const home = await createTestHome();
  const child = home.start(["--help"]);
  child.stdout.destroy();
  const [[code], problems] = await Promise.all([once(child, "exit"), text(child.stderr)]);
  assert.deepEqual([code, problems], [0, ""]);
  await home.remove();
});
