import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createHostedHome, objectOf, objectsOf, type TestHome, textOf } from "./home.ts";

/** A process of its own, as everybody runs commands; the others have one process together. */
const ALONE = { ownProcess: true };

/** No kernel runs: every command opens the store itself. */
describe("commands without a kernel", { timeout: 120_000 }, () => {
  let at: TestHome;
  let session: { readonly id: string; readonly token: string };
  before(async () => {
    at = await createHostedHome();
    session = await at.openSession("--agent", "tester", "--seed", "07".repeat(32));
  });
  after(() => at.remove());

  const call = (tool: string, input: string, ...options: readonly string[]) => [
    "call",
    tool,
    input,
    "--session",
    session.id,
    ...options,
  ];

  it("keep the token in a file that only its owner can read", async () => {
    const opened = await at.ask(["session", "open", "--workspace", at.workspace], 0, ALONE);
    const file = textOf(opened["token_file"]);
    assert.equal((await readFile(file, "utf8")).trim(), opened["token"]);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  it("reject a workspace that contains the kernel's home", async () => {
    const answer = await at.ask(["session", "open", "--workspace", at.root], 4);
    assert.equal(objectOf(answer["error"])["code"], "WORKSPACE_REFUSED");
  });

  it("report invalid input with 4 and name every problem", async () => {
    const answer = await at.ask(call("echo", '{"text":1,"text":2}'), 4);
    assert.equal(answer["status"], "error");
    assert.equal(answer["error_code"], "INVALID_INPUT");
    assert.ok(objectsOf(answer["violations"]).length > 0);
  });

  it("report an unknown tool with 1 and an unknown session with 3", async () => {
    assert.equal((await at.ask(call("nonsense", "{}"), 1))["error_code"], "TOOL_NOT_FOUND");
    const forged = `ntx_${session.id}_${"A".repeat(43)}`;
    const answer = await at.ask(["call", "echo", "{}"], 3, { env: { NARTHEX_TOKEN: forged } });
    assert.equal(answer["status"], "denied");
    assert.equal(answer["rationale_code"], "SESSION_UNKNOWN");
  });

  it("run a tool and print its result with all fields of the response", async () => {
    const answer = await at.ask(call("hash", '{"data":"abc"}', "--request-id", "r1"), 0, ALONE);
    assert.equal(answer["request_id"], "r1");
    assert.equal(answer["status"], "success");
    assert.match(textOf(answer["result_hash"]), /^[0-9a-f]{64}$/);
    assert.match(textOf(answer["proof_hash"]), /^[0-9a-f]{64}$/);
    assert.equal(typeof answer["budget_consumed"], "number");
    assert.equal(typeof answer["duration_ms"], "number");
    assert.equal(answer["result"], "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
  });

  it("print the recorded response for a repeated request id, in another process", async () => {
    const first = await at.ask(call("echo", '{"text":"once"}', "--request-id", "again"));
    const second = await at.ask(call("echo", '{"text":"once"}', "--request-id", "again"), 0, ALONE);
    assert.equal(second["repeated_answer"], true);
    assert.equal(second["result_hash"], first["result_hash"]);
    assert.equal(
      (await at.ask(call("echo", '{"text":"other"}', "--request-id", "again"), 1))["error_code"],
      "DUPLICATE_REQUEST_ID",
    );
  });

  it("read input from a file and from standard input, and the token from a file", async () => {
    const input = join(at.root, "input.json");
    const tokenFile = join(at.root, "token");
    await writeFile(input, '{"text":"from a file"}');
    await writeFile(tokenFile, `${session.token}\n`, { mode: 0o600 });
    const fromFile = await at.run(["call", "echo", `@${input}`, "--session", `@${tokenFile}`], ALONE);
    assert.match(fromFile.stdout, /from a file/);
    const piped = await at.run(call("echo", "-"), { stdin: '{"text":"from a pipe"}', ...ALONE });
    assert.match(piped.stdout, /from a pipe/);
    assert.equal(piped.stderr, "");
  });

  it("fetch a result too large for a response from the content store", async () => {
    const text = "0123456789".repeat(200_000);
    const options = { stdin: JSON.stringify({ text }), ...ALONE };
    const answer = await at.ask(call("echo", "-"), 0, options);
    assert.ok(JSON.stringify(answer["result"]).includes(text));
  });

  it("put, get and stat content, as its session and as administrator", async () => {
    const content = Buffer.from([0, 1, 2, 255, 254]);
    const put = await at.ask(["cas", "put", "-", "--session", session.id, "--label", "untrusted"], 0, {
      stdin: content,
      ...ALONE,
    });
    const hash = textOf(put["hash"]);
    assert.equal(put["size"], 5);
    assert.deepEqual(put["labels"], ["untrusted"]);
    const out = join(at.root, "content");
    await at.ask(["cas", "get", hash, "--session", session.id, "--out", out], 0, ALONE);
    assert.deepEqual(await readFile(out), content);
    const status = await at.ask(["cas", "stat", hash], 0, ALONE);
    assert.equal(status["size"], 5);
    assert.equal(objectsOf(status["holders"])[0]?.["session_id"], session.id);
  });

  it("show tools with their whole declarations", async () => {
    const tools = objectsOf((await at.ask(["tools", "list"], 0, ALONE))["tools"]).map((tool) => tool["name"]);
    for (const name of ["echo", "hash", "result_read", "artifact_publish", "artifact_get"])
      assert.ok(tools.includes(name), name);
    const tool = await at.ask(["tools", "show", "artifact_publish@1.0.0"]);
    assert.equal(tool["safety_tier"], "side_effecting");
    assert.deepEqual(tool["effects"], ["artifact"]);
    assert.match(textOf(tool["definition_hash"]), /^[0-9a-f]{64}$/);
    assert.equal(typeof objectOf(tool["input_schema"])["properties"], "object");
    assert.equal(typeof objectOf(tool["bounds"])["timeout_ms"], "number");
  });

  it("show sessions and close them permanently", async () => {
    const shown = await at.ask(["session", "show", session.id], 0, ALONE);
    assert.equal(shown["agent"], "tester");
    assert.equal(shown["seed"], "07".repeat(32));
    assert.equal("token" in shown, false);
    const other = await at.openSession();
    assert.equal((await at.ask(["session", "close", other.id], 0, ALONE))["state"], "closed");
    const listed = objectsOf((await at.ask(["session", "list"], 0, ALONE))["sessions"]).map((one) => one["session_id"]);
    assert.ok(listed.includes(session.id) && !listed.includes(other.id));
    const answer = await at.ask(["call", "echo", '{"text":"x"}'], 3, { env: { NARTHEX_TOKEN: other.token } });
    assert.equal(answer["rationale_code"], "SESSION_CLOSED");
  });

  it("list and show records, and verify them", async () => {
    const made = await at.ask(call("echo", '{"text":"\\u202eevil"}', "--request-id", "shown"));
    const shown = await at.ask(["ledger", "show", `${session.id}/shown`], 0, ALONE);
    assert.equal(shown["request_id"], "shown");
    const kinds = objectsOf(shown["entries"]).flatMap((entry) => Object.keys(entry));
    assert.deepEqual(kinds, ["tool_invoked", "capability_check", "policy_decision", "tool_started", "tool_completed"]);
    const byIndex = await at.ask(["ledger", "show", JSON.stringify(shown["index"])]);
    assert.equal(byIndex["hash"], shown["hash"]);
    const contents = objectsOf(shown["content"]);
    assert.equal(contents.find((item) => item["role"] === "result")?.["digest"], made["result_hash"]);
    assert.ok(contents.every((item) => !("nonce" in item)));
    const listed = objectsOf((await at.ask(["ledger", "list", "--from", "0", "--limit", "3"], 0, ALONE))["records"]);
    assert.deepEqual(
      listed.map((record) => record["index"]),
      [0, 1, 2],
    );
    const report = await at.ask(["ledger", "verify"], 0, ALONE);
    assert.deepEqual([report["intact"], report["complete"], report["problems"]], [true, true, []]);
    assert.match(textOf(report["head_hash"]), /^[0-9a-f]{64}$/);
  });

  it("never print a control character from an agent", async () => {
    await at.openSession("--agent", "a\u202eb\u200bc");
    await at.ask(call("no\u001b[2Jtool", "1", "--request-id", "r\u009b31m"), 1);
    const sessions = await at.run(["session", "list"]);
    assert.ok(sessions.stdout.includes("a\\u202eb\\u200bc"));
    const records = await at.run(["ledger", "list"]);
    assert.ok(records.stdout.includes("no\\u001b[2Jtool") && records.stdout.includes("r\\u009b31m"));
    assert.ok(!/[\u001b\u009b\u202e\u200b]/u.test(sessions.stdout + records.stdout));
  });

  it("report that nothing needs settlement, also for an unknown call", async () => {
    assert.deepEqual((await at.ask(["journal"], 0, ALONE))["intents"], []);
    const answer = await at.ask(["journal", "settle", session.id, "nothing", "--happened", "--by", "ada"], 1, ALONE);
    assert.equal(objectOf(answer["error"])["code"], "INTENT_NOT_FOUND");
  });
});
