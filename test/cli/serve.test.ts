import assert from "node:assert/strict";
import { mkdir, readFile, realpath, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  createHostedHome,
  createTestHome,
  ended,
  objectOf,
  objectsOf,
  parseObject,
  readLines,
  type Serving,
  type TestHome,
  textOf,
} from "./home.ts";

/** A process of its own, as everybody runs commands; the others have one process together. */
const ALONE = { ownProcess: true };

describe("a kernel that holds the home", { timeout: 90_000 }, () => {
  let at: TestHome;
  let kernel: Serving;
  before(async () => {
    at = await createHostedHome();
    kernel = await at.serve("--first-session");
  });
  after(() => at.remove());

  describe("and commands through it", { concurrency: 2 }, () => {
    it("are told which process holds the home when they need it exclusively", async () => {
      const answer = await at.ask(["serve", "--listen", "127.0.0.1:0"], 5, ALONE);
      const error = objectOf(answer["error"]);
      assert.equal(error["code"], "HOME_BUSY");
      assert.ok(textOf(error["message"]).includes(String(kernel.child.pid)));
    });

    it("use a kernel that listens on loopback only", async () => {
      const other = await createTestHome();
      try {
        const answer = await other.ask(["serve", "--listen", "0.0.0.0:0"], 4);
        assert.equal(objectOf(answer["error"])["code"], "CONFIG_INVALID");
      } finally {
        await other.remove();
      }
    });

    it("find a first session on a workspace outside the home, and its token in a private file", async () => {
      const first = objectOf(kernel.ready["first_session"]);
      const workspace = textOf(first["workspace"]);
      assert.ok((await stat(workspace)).isDirectory());
      assert.ok(!workspace.startsWith(at.home));
      const answer = await at.ask(["call", "echo", '{"text":"hello"}'], 0, ALONE);
      assert.deepEqual(answer["result"], { text: "hello" });
      const shown = await at.ask(["session", "show", textOf(first["session_id"])], 0, ALONE);
      assert.equal(shown["calls"], 1);
    });

    it("get a token only by opening a session", async () => {
      const { token } = await at.openSession();
      const secret = token.slice(-43);
      for (const args of [
        ["session", "list", "--all", "--json"],
        ["ledger", "list", "--json"],
        ["session", "list"],
      ]) {
        const { stdout, stderr } = await at.run(args, ALONE);
        assert.ok(!(stdout + stderr).includes(secret), args.join(" "));
      }
    });

    it("report denials with 3, invalid input with 4 and unknown tools with 1", async () => {
      const lease = join(at.root, "lease.json");
      await writeFile(lease, '{"tool_patterns":["hash"]}');
      const { id } = await at.openSession("--lease", lease);
      const denied = await at.ask(["call", "echo", "1", "--session", id], 3);
      assert.deepEqual([denied["status"], denied["rationale_code"]], ["denied", "LEASE_SCOPE"]);
      assert.equal((await at.ask(["call", "hash", "{}", "--session", id], 4))["error_code"], "INVALID_INPUT");
      assert.equal((await at.ask(["call", "hash", "{", "--session", id], 4))["error_code"], "INVALID_INPUT");
      assert.equal((await at.ask(["call", "nothing", "{}"], 1))["error_code"], "TOOL_NOT_FOUND");
      const told = await at.run(["call", "echo", "1", "--session", id], ALONE);
      assert.match(told.stderr, /denied: .*\nrule: +kernel:decide +LEASE_SCOPE\nnext: +\S/);
      await writeFile(lease, '{"tool_patterns":["hash"],"tool_patterns":["*"]}');
      const refused = await at.ask(["session", "open", "--workspace", at.workspace, "--lease", lease], 4, ALONE);
      assert.equal(objectOf(refused["error"])["code"], "LEASE_INVALID");
    });

    it("transfer content and results of any size", async () => {
      const content = Buffer.alloc(3_000_000, "narthex ");
      const put = await at.ask(["cas", "put", "-", "--label", "untrusted"], 0, { stdin: content, ...ALONE });
      const out = join(at.root, "content");
      const got = await at.ask(["cas", "get", textOf(put["hash"]), "--out", out]);
      assert.equal(got["bytes_written"], content.length);
      assert.ok((await readFile(out)).equals(content));
      const part = await at.run(["cas", "get", textOf(put["hash"]), "--offset", "8", "--limit", "7"], ALONE);
      assert.equal(part.stdout, "narthex");
      const text = "x".repeat(2_000_000);
      const answer = await at.ask(["call", "echo", "-"], 0, { stdin: JSON.stringify({ text }), ...ALONE });
      assert.deepEqual(answer["result"], { text });
      const large = join(at.root, "large");
      const saved = await at.ask(["call", "echo", "-", "--out", large], 0, { stdin: JSON.stringify({ text }) });
      assert.deepEqual([saved["result_file"], saved["result_size"]], [large, (await stat(large)).size]);
    });

    it("do not give content to sessions that do not hold it", async () => {
      const put = await at.ask(["cas", "put", "-"], 0, { stdin: "mine" });
      const { id } = await at.openSession();
      const refused = await at.ask(["cas", "get", textOf(put["hash"]), "--session", id], 1);
      assert.equal(objectOf(refused["error"])["code"], "CONTENT_NOT_FOUND");
      const wrong = await at.ask(["cas", "put", "-", "--expect", "00".repeat(32)], 4, { stdin: "mine" });
      assert.equal(objectOf(wrong["error"])["code"], "INVALID_INPUT");
      const missing = await at.ask(["cas", "stat", "00".repeat(32)], 1, ALONE);
      assert.equal(objectOf(missing["error"])["code"], "CONTENT_NOT_FOUND");
      const unknown = await at.ask(["tools", "show", "echo@9.9.9"], 1, ALONE);
      assert.equal(objectOf(unknown["error"])["code"], "TOOL_NOT_FOUND");
    });

    it("pass a deadline to a call, and print the result of a tool that does not stream", async () => {
      const answer = await at.ask(["call", "echo", '"quick"', "--timeout", "20s"]);
      assert.equal(answer["result"], "quick");
      const streamed = await at.run(["call", "echo", '"whole"', "--stream"], ALONE);
      assert.equal(streamed.stdout, '"whole"\n');
    });

    it("show every call as it happens", async () => {
      const { id } = await at.openSession();
      const watching = at.start(["watch", "--json", "--session", id]);
      const calls = readLines(watching);
      const tailing = at.start(["ledger", "tail", "--from", "0", "--json"]);
      assert.equal(parseObject(await readLines(tailing)())["index"], 0);
      const next = calls();
      let seen = false;
      void next.then(() => {
        seen = true;
      });
      // The watcher sees what comes after it has looked: call until it has.
      for (let made = 0; !seen && made < 20; made += 1)
        await at.ask(["call", "hash", '{"data":"watched"}', "--session", id]);
      const call = parseObject(await next);
      assert.deepEqual([call["tool"], call["subject"]], ["hash@1.0.0", '{"data":"watched"}']);
      assert.deepEqual([call["decision"], call["rule_ids"], call["success"]], ["allowed", ["without-effects"], true]);
      assert.equal(call["result_size"], 64);
      watching.kill("SIGINT");
      // The other one ends with its reader, at the first line that it cannot write.
      tailing.stdout.destroy();
      await at.ask(["call", "hash", '{"data":"unread"}', "--session", id]);
      assert.deepEqual(await Promise.all([ended(watching), ended(tailing)]), [0, 0]);
    });

    it("list records by tool, by agent, by denial and by time, and show a call's input", async () => {
      const { id } = await at.openSession("--agent", "filtered");
      const call = ["call", "hash", JSON.stringify({ data: "a" }), "--session", id, "--request-id", "first"];
      await at.ask(call);
      await at.ask(["call", "http_fetch", '{"url":"https://example.com/"}', "--session", id], 3);
      const listed = async (...options: string[]): Promise<string[]> => {
        const { stdout } = await at.run(["ledger", "list", "--session", id, ...options]);
        return stdout.trimEnd().split("\n").slice(1);
      };
      assert.equal((await listed()).length, 3);
      assert.match((await listed("--tool", "hash")).join("\n"), /^ *\d+ .* first +hash@1\.0\.0 \{"data":"a"\} · .*$/);
      assert.match(
        (await listed("--denied")).join("\n"),
        /^ *\d+ .* http_fetch@1\.0\.0 https:\/\/example\.com\/ · .*CAPABILITY_MISSING.*$/,
      );
      assert.deepEqual(await listed("--tool", "hash", "--denied"), []);
      assert.equal((await listed("--agent", "filtered", "--since", "1h", "--limit", "2")).length, 2);
      assert.deepEqual(await listed("--agent", "another"), []);
      assert.deepEqual(await listed("--since", "2100-01-01"), []);
      assert.equal((await at.run(["ledger", "list", "--since", "soon"])).code, 2);
      const shown = await at.run(["ledger", "show", `${id}/first`]);
      assert.match(shown.stdout, /\nInput\n {2}\{\n {4}"data": "a"\n {2}\}\n/);
      assert.deepEqual((await at.ask(["ledger", "show", `${id}/first`]))["input"], { data: "a" });
    });

    it("read the ledger and find it sound", async () => {
      const report = await at.ask(["ledger", "verify"], 0, ALONE);
      assert.deepEqual([report["intact"], report["complete"], report["problems"]], [true, true, []]);
      const listed = objectsOf((await at.ask(["ledger", "list", "--session", "system", "--limit", "1"]))["records"]);
      assert.equal(listed[0]?.["chain"], "system");
      const missing = await at.ask(["ledger", "show", "999999"], 1, ALONE);
      assert.equal(objectOf(missing["error"])["code"], "RECORD_NOT_FOUND");
      const nobody = await at.ask(["session", "show", "ses_aaaaaaaaaaaaaaaaaaaa"], 3);
      assert.equal(objectOf(nobody["error"])["code"], "SESSION_UNKNOWN");
      assert.deepEqual((await at.ask(["journal"], 0, ALONE))["intents"], []);
    });
  });

  it("ends with 0 when stopped, and restores the same first session", async () => {
    assert.equal(await kernel.stop(), 0);
    const first = objectOf(kernel.ready["first_session"])["session_id"];
    kernel = await at.serve("--first-session");
    assert.equal(objectOf(kernel.ready["first_session"])["session_id"], first);
    assert.equal(await kernel.stop(), 0);
    const report = await at.ask(["ledger", "verify"]);
    assert.deepEqual([report["intact"], report["complete"]], [true, true]);
  });

  it("prints commands that run this same program, by name only if a shell finds it", async () => {
    const printed = async (words: readonly string[], env: NodeJS.ProcessEnv): Promise<string[]> => {
      const child = at.start(words, { env });
      const next = readLines(child);
      const lines = [];
      for (let line = await next(); ; line = await next()) {
        if (/ call echo /.test(line)) lines.push(line.trim().replace(/ call echo .*/, ""));
        if (/Ctrl-C stops it|next:/.test(line)) break;
      }
      if (words[0] === "serve") child.kill("SIGTERM");
      assert.equal(await ended(child), 0);
      return lines;
    };
    const programs = join(at.root, "programs");
    await mkdir(programs);
    await symlink(at.program, join(programs, "narthex"));
    const PATH = `${programs}:${process.env["PATH"] ?? ""}`;
    const absolute = await realpath(at.program);
    const serve = ["serve", "--listen", "127.0.0.1:0", "--first-session"];
    const open = ["session", "open", "--workspace", at.workspace];
    // As npm starts it, with a PATH that no other terminal has.
    assert.deepEqual(await printed(serve, { PATH, npm_lifecycle_event: "npx" }), [absolute]);
    assert.deepEqual(await printed(open, { PATH, npm_lifecycle_event: undefined }), ["next: narthex"]);
    assert.deepEqual(await printed(open, { npm_lifecycle_event: undefined }), [`next: ${absolute}`]);
    const elsewhere = { NARTHEX_DATA: undefined, npm_lifecycle_event: undefined };
    assert.deepEqual(await printed([...open, "--data", at.home], elsewhere), [`next: ${absolute} --data ${at.home}`]);
  });
});
