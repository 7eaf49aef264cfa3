import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { createHostedHome, ended, objectOf, objectsOf, parseObject, readLines, type TestHome, textOf } from "./home.ts";

const commandOf = (command: string): string => JSON.stringify({ command });

describe("approvals of a served kernel", { timeout: 240_000 }, () => {
  let at: TestHome;
  let session: { readonly id: string };
  before(async () => {
    at = await createHostedHome();
    await at.serve();
    session = await at.openSession("--adopt", "--agent", "builder");
  });
  after(() => at.remove());

  /** A call under way: what it prints is read from the beginning. */
  function start(command: string, ...more: string[]) {
    const args = ["call", "shell_exec", commandOf(command), "--session", session.id, "--json", ...more];
    const child = at.start(args, { stdin: "" });
    return { child, printed: Promise.all([text(child.stdout), text(child.stderr)]) };
  }

  type Started = ReturnType<typeof start>;

  /** Until somebody is asked about this very command, which a call waits for. */
  async function asked(command: string, { child, printed }: Started): Promise<JsonObject> {
    for (;;) {
      if (child.exitCode !== null) assert.fail(`the call did not wait: ${(await printed).join("")}`);
      const found = objectsOf((await at.ask(["approvals", "list"]))["approvals"]).find(
        (info) => objectOf(parseObject(textOf(info["input"])))["command"] === command,
      );
      if (found !== undefined) return found;
    }
  }

  async function answerOf({ printed }: Started): Promise<JsonObject> {
    const [output, problems] = await printed;
    assert.notEqual(output, "", problems);
    return parseObject(output);
  }

  it("require a pending id and compatible options", async () => {
    const unknown = await at.ask(["approvals", "approve", "apr_aaaaaaaaaaaaaaaaaaaa"], 1);
    assert.equal(objectOf(unknown["error"])["code"], "APPROVAL_NOT_FOUND");
    assert.equal(objectOf((await at.ask(["approvals", "show", "x"], 1))["error"])["code"], "APPROVAL_NOT_FOUND");
    assert.equal(objectOf((await at.ask(["approvals", "revoke", "x"], 1))["error"])["code"], "APPROVAL_NOT_FOUND");
    for (const options of [
      ["--session", "--rule"],
      ["--words", "2"],
      ["--rule", "--words", "2"],
      ["--words", "x"],
    ]) {
      assert.equal((await at.run(["approvals", "approve", "apr_a", ...options])).code, 2, options.join(" "));
    }
  });

  it("show a call on one line of the list and in full by itself, marking hidden and cut text", async () => {
    const command = `mkdir sh\u043ew\u202e\u001b[2J${" x".repeat(200)}\nAPPROVAL   approved\napr_fake  once`;
    const call = start(command);
    const { approval_id: id } = await asked(command, call);
    const { stdout: list } = await at.run(["approvals"]);
    assert.equal(list.trimEnd().split("\n").length, 2);
    assert.match(list, /\\u\{202e\}.*\(cut, \d+ characters\)/);
    assert.doesNotMatch(list, /[\u202e\u001b]/);
    const { stdout: shown } = await at.run(["approvals", "show", textOf(id)]);
    assert.doesNotMatch(shown, /[\u202e\u001b]|^APPROVAL|^apr_fake/m);
    assert.match(shown, /sh\u043e\[\\u\{43e\}\]w/);
    assert.ok(shown.includes(" x".repeat(200)));
    assert.match(shown, /^ {2}\| apr_fake {2}once$/m);
    await at.ask(["approvals", "deny", textOf(id)]);
    assert.equal((await answerOf(call))["rationale_code"], "APPROVAL_DENIED");
  });

  it("are named on the error stream while the call waits, with the commands that decide them", async () => {
    const command = "mkdir noticed";
    const args = ["call", "shell_exec", commandOf(command), "--session", session.id];
    const waiting = at.start(args, { stdin: "" });
    const [noticed, output] = [readNotice(waiting), text(waiting.stdout)];
    const notice = await noticed("console");
    const id = /approvals approve (apr_\w+)$/m.exec(notice)?.[1] ?? assert.fail(notice);
    assert.match(notice, /^waiting: a person has to approve shell_exec@\S+ \(rule ask-command\)/);
    assert.match(notice, new RegExp(`approvals deny ${id}$`, "m"));
    assert.doesNotMatch(notice, /http:/, "a sign-in link belongs on a terminal only");
    // An equal call joins the question, and is told the same.
    const joined = at.start([...args, "--json"], { stdin: "" });
    const [joinedNotice, answer] = [readNotice(joined), text(joined.stdout)];
    const told = objectOf(parseObject(await joinedNotice('"waiting"'))["waiting"]);
    assert.deepEqual([told["approval_id"], told["rule_ids"]], [id, ["ask-command"]]);
    // One answer is for one of them. The other asks again, and says so.
    await at.ask(["approvals", "approve", id]);
    const [first, second] = [waiting, joined].map((child) => ended(child));
    const left = await Promise.any([
      joinedNotice('"waiting"').then((line) => textOf(objectOf(parseObject(line)["waiting"])["approval_id"])),
      noticed("console").then((again) => /approvals approve (apr_\w+)$/m.exec(again)?.[1] ?? assert.fail(again)),
    ]);
    await at.ask(["approvals", "deny", left]);
    assert.deepEqual(
      [await first, await second].toSorted((left, right) => Number(left) - Number(right)),
      [0, 3],
    );
    assert.doesNotMatch(await output, /waiting/);
    assert.match(textOf(parseObject(await answer)["status"]), /^(?:success|denied)$/);
    // A connection that only listened, and ended, is no request that was refused.
    assert.doesNotMatch(JSON.stringify(await at.ask(["ledger", "list", "--session", "system"])), /request_refused/);
  });

  it("deny with a reason, which a later approval does not undo", async () => {
    const call = start("mkdir denied");
    const id = textOf((await asked("mkdir denied", call))["approval_id"]);
    const denied = await at.ask(["approvals", "deny", id, "--reason", "use another name", "--by", "ada"]);
    assert.deepEqual([denied["answer"], denied["approver"]], ["deny", "ada"]);
    const answer = await answerOf(call);
    assert.deepEqual([answer["status"], answer["message"]], ["denied", "use another name"]);
    assert.equal(await ended(call.child), 3);
    const late = await at.ask(["approvals", "approve", id], 1);
    assert.match(textOf(objectOf(late["error"])["message"]), /denied by `ada`/);
    await assert.rejects(stat(join(at.workspace, "denied")));
  });

  it("approve a call that was told to come back; it runs when it returns, and the ledger names door and approver", async () => {
    const pending = await answerOf(start("mkdir approved", "--timeout", "1s"));
    assert.equal(pending["error_code"], "APPROVAL_PENDING");
    const id = textOf(pending["approval_id"]);
    assert.match(textOf(pending["message"]), new RegExp(`narthex.js --data ${at.home} approvals approve ${id}`));
    await at.ask(["approvals", "approve", id, "--by", "ada"]);
    assert.deepEqual((await at.ask(["approvals"]))["approvals"], []);
    assert.equal((await answerOf(start("mkdir approved")))["status"], "success");
    assert.ok((await stat(join(at.workspace, "approved"))).isDirectory());
    const resolved = await resolvedEntries();
    assert.ok(
      resolved.some((entry) => entry["approval_id"] === id && entry["door"] === "cli" && entry["approver"] === "ada"),
    );
  });

  async function resolvedEntries(): Promise<JsonObject[]> {
    const { stdout } = await at.run(["ledger", "list", "--limit", "1000", "--json"]);
    const indexes = objectsOf(parseObject(stdout)["records"]).map((record) => String(record["index"]));
    const found: JsonObject[] = [];
    for (const index of indexes.slice(-12)) {
      for (const entry of objectsOf((await at.ask(["ledger", "show", index]))["entries"])) {
        if (entry["approval_resolved"] !== undefined) found.push(objectOf(entry["approval_resolved"]));
      }
    }
    return found;
  }

  it("approve for the session by the command's first words, until revoked", async () => {
    const call = start("mkdir -p deep/one");
    const info = await asked("mkdir -p deep/one", call);
    assert.equal(info["session_scope"], 'the command "mkdir" "-p" "deep/one"');
    const id = textOf(info["approval_id"]);
    const given = await at.ask(["approvals", "approve", id, "--session", "--words", "2"]);
    const standingId = textOf(objectOf(given["standing"])["standing_id"]);
    assert.equal((await answerOf(call))["status"], "success");
    assert.equal((await answerOf(start("mkdir -p deep/two")))["status"], "success");
    const [standing] = objectsOf((await at.ask(["approvals", "list", "--standing"]))["standing"]);
    assert.deepEqual([standing?.["standing_id"], standing?.["scope"]], [standingId, "session"]);
    assert.match((await at.run(["approvals", "list", "--standing"])).stdout, /commands that begin with "mkdir" "-p"/);
    await at.ask(["approvals", "revoke", standingId, "--by", "ada"]);
    const again = await answerOf(start("mkdir -p deep/three", "--timeout", "1s"));
    assert.equal(again["error_code"], "APPROVAL_PENDING");
    await at.ask(["approvals", "deny", textOf(again["approval_id"])]);
  });

  it("never generalise an interpreter: `always` for `bash -lc` covers that exact call", async () => {
    const call = start("bash -lc 'mkdir learned'");
    const info = await asked("bash -lc 'mkdir learned'", call);
    assert.equal(info["session_scope"], "this call again, with exactly this input");
    const id = textOf(info["approval_id"]);
    const words = await at.ask(["approvals", "approve", id, "--session", "--words", "2"], 4);
    assert.match(textOf(objectOf(words["error"])["message"]), /no words to shorten/);
    await at.ask(["approvals", "approve", id, "--session"]);
    assert.equal((await answerOf(call))["status"], "success");
    for (const other of ["bash -lc 'mkdir other'", "bash x.sh", "bash -lc 'mkdir learned' x"]) {
      const answer = await answerOf(start(other, "--timeout", "1s"));
      assert.equal(answer["error_code"], "APPROVAL_PENDING", other);
      await at.ask(["approvals", "deny", textOf(answer["approval_id"])]);
    }
  });

  it("approve as a rule: its text is shown, added to the policy, applies to other sessions, and is removed on revocation", async () => {
    const call = start("mkdir -p ruled");
    const info = await asked("mkdir -p ruled", call);
    const id = textOf(info["approval_id"]);
    const { stdout: shown } = await at.run(["approvals", "show", id]);
    for (const line of textOf(info["rule_text"]).trimEnd().split("\n")) assert.ok(shown.includes(`  | ${line}`), line);
    const given = await at.ask(["approvals", "approve", id, "--rule"]);
    const standing = objectOf(given["standing"]);
    assert.deepEqual([standing["scope"], standing["allows"]], ["rule", info["rule_text"]]);
    assert.equal((await answerOf(call))["status"], "success");
    const other = await at.openSession("--agent", "builder");
    const stranger = await at.openSession("--agent", "another");
    const elsewhere = ["call", "shell_exec", commandOf("mkdir -p ruled"), "--session", stranger.id, "--timeout", "1s"];
    const strange = await at.ask(elsewhere, 1);
    assert.equal(strange["error_code"], "APPROVAL_PENDING", "the rule is for one agent");
    const args = ["call", "shell_exec", commandOf("mkdir -p ruled"), "--session", other.id, "--timeout", "1s"];
    assert.equal(
      (await at.ask(["call", "shell_exec", commandOf("mkdir -p ruled"), "--session", other.id]))["status"],
      "success",
    );
    const unlike = await answerOf(start("mkdir -p ruled x", "--timeout", "1s"));
    assert.equal(unlike["error_code"], "APPROVAL_PENDING");
    await at.ask(["approvals", "revoke", textOf(standing["standing_id"])]);
    const again = await at.ask(args, 1);
    assert.equal(again["error_code"], "APPROVAL_PENDING");
    for (const left of [strange, unlike, again]) await at.ask(["approvals", "deny", textOf(left["approval_id"])]);
  });

  it("are printed as they arrive", async () => {
    const watching = at.start(["approvals", "watch", "--json"]);
    const next = readLines(watching);
    const call = start("mkdir watched");
    let info = parseObject(await next());
    // Those that were open before come first.
    while (!textOf(info["input"]).includes("mkdir watched")) info = parseObject(await next());
    await at.ask(["approvals", "deny", textOf(info["approval_id"])]);
    assert.equal((await answerOf(call))["status"], "denied");
    watching.kill("SIGTERM");
    await ended(watching);
  });

  it("leave a sound ledger", async () => {
    const report = await at.ask(["ledger", "verify"]);
    assert.deepEqual([report["intact"], report["complete"], report["problem_count"] ?? 0], [true, true, 0]);
  });
});

/** The error stream up to and with the line that holds `last`. */
function readNotice({ stderr }: ReturnType<TestHome["start"]>): (last: string) => Promise<string> {
  const lines = createInterface({ input: stderr })[Symbol.asyncIterator]();
  return async (last) => {
    const read: string[] = [];
    for (;;) {
      const { done, value } = await lines.next();
      if (done === true) assert.fail(`it ended without \`${last}\`: ${read.join("\n")}`);
      read.push(value);
      if (value.includes(last)) return read.join("\n");
    }
  };
}
