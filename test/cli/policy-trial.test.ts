import assert from "node:assert/strict";
import { chmod, chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { blake3, type JsonObject, utf8 } from "@narthex/contracts";
import { createKernel, type NarthexKernel } from "narthex";
import { createHostedHome, objectOf, objectsOf, type TestHome, textOf } from "./home.ts";

const ASKING = `
@id("echo") permit(principal, action == Action::"echo", resource);
@id("reads") permit(principal, action == Action::"file_read", resource);
@id("writes") @approve("always") permit(principal, action == Action::"file_write", resource);
@id("commands") @approve("human") permit(principal, action == Action::"shell_exec", resource);
`;

describe("policy trial with other rules on a ledger", { timeout: 240_000 }, () => {
  let at: TestHome;
  let kernel: NarthexKernel;
  let sessionId: string;
  let candidate: string;
  before(async () => {
    at = await createHostedHome();
    await chmod(at.root, 0o755);
    if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
    await at.ask(["init"]);
    await rm(join(at.home, "policy"), { recursive: true });
    await mkdir(join(at.home, "policy"), { mode: 0o700 });
    await writeFile(join(at.home, "policy/rules.cedar"), ASKING);
    const approver = { door: "test", ask: async () => ({ approved: true, approver: "ada" }) };
    kernel = await createKernel({ data: at.home, approver });
    const session = await kernel.session({ workspace: at.workspace, agent: "writer" });
    sessionId = session.id;
    const call = async (tool: string, input: JsonObject): Promise<void> => {
      const { status, response } = await session.call(tool, input);
      assert.equal(
        status,
        "success",
        JSON.stringify(response.result.value, (_, value: unknown) =>
          typeof value === "bigint" ? String(value) : value,
        ),
      );
    };
    await call("echo", { text: "kept" });
    await call("echo", { text: "to be erased" });
    await call("file_write", { path: "a.txt", content: "one" });
    await call("file_write", { path: "a.txt", content: "two" });
    await call("file_write", { path: "b.txt", content: "one" });
    await call("shell_exec", { command: "bash -c 'echo hidden'" });
    assert.equal((await session.call("file_list", { path: "." })).status, "denied");
    candidate = join(at.root, "candidate");
    await mkdir(candidate);
  });
  after(async () => {
    await kernel.close();
    await at.remove();
  });

  const whatif = async (rules: string, code: number, ...words: string[]): Promise<JsonObject> => {
    await writeFile(join(candidate, "rules.cedar"), rules);
    return at.ask(["policy", "whatif", "--policy", candidate, ...words], code);
  };
  const changesOf = (answer: JsonObject): unknown[] =>
    objectsOf(answer["changes"]).map(({ from, to, action, count }) => [from, to, action, count]);

  it("requires a policy, and a valid one", async () => {
    assert.equal((await at.run(["policy", "whatif"])).code, 2);
    await writeFile(join(candidate, "rules.cedar"), 'permit(principal, action == Action::"ecko", resource);');
    assert.equal((await at.run(["policy", "whatif", "--policy", candidate])).code, 4);
  });

  it("reports that nothing would change, while the kernel runs", async () => {
    const same = await whatif(ASKING, 0);
    assert.deepEqual([same["changed"], same["not_evaluated"]], [0, {}]);
    assert.ok(Number(same["unchanged"]) >= 6);
  });

  it("overrides a rule that always asks only by a rule that names it", async () => {
    const open = '@id("open") @approve("none") permit(principal, action == Action::"file_write", resource);';
    assert.deepEqual(changesOf(await whatif(`${ASKING}${open}`, 0)), []);
    const lifting = open.replace(" permit", ' @overrides("writes") permit');
    assert.deepEqual(changesOf(await whatif(`${ASKING}${lifting}`, 10)), [["human", "allow", "file_write", 6]]);
  });

  it("lists every decision that would change, in each direction, grouped and counted", async () => {
    const other = `
@id("echo") @approve("console") permit(principal, action == Action::"echo", resource);
@id("a-only") permit(principal, action == Action::"file_write", resource) when { context.path == "a.txt" };
@id("commands") @approve("console") permit(principal, action == Action::"shell_exec", resource);
@id("lists") permit(principal, action == Action::"file_list", resource);
`;
    const answer = await whatif(other, 10);
    assert.deepEqual(
      new Set(changesOf(answer).map((change) => JSON.stringify(change))),
      // What was approved was decided again before it ran.
      new Set([
        '["allow","console","echo",2]',
        '["human","allow","file_write",4]',
        '["human","deny","file_write",2]',
        '["human","console","shell_exec",2]',
        '["deny","allow","file_list",1]',
      ]),
    );
    const [first] = objectsOf(objectsOf(answer["changes"]).find(({ action }) => action === "file_list")?.["examples"]);
    assert.equal(first?.["session_id"], sessionId);
    assert.deepEqual(changesOf(await whatif(other, 0, "--session", "ses_nobody")), []);
    const { stdout, code } = await at.run(["policy", "whatif", "--policy", candidate], { ownProcess: true });
    assert.equal(code, 10);
    assert.match(stdout, /ask -> deny {2}2 {2}file_write {2}\(writes -> no rule\)/);
  });

  it("suggests one narrow rule for approved calls, and shows what else it would have allowed", async () => {
    const out = join(at.root, "suggested.cedar");
    const answer = await at.ask(["policy", "suggest", "--session", sessionId, "--out", out]);
    const rules = objectsOf(answer["rules"]);
    assert.equal(rules.length, 2);
    const texts = rules.map(({ text }) => textOf(text));
    assert.ok(texts.every((text) => text.includes('@overrides("writes")')));
    assert.ok(texts.every((text) => text.includes('Agent::"writer"') && text.includes("context.labels.isEmpty()")));
    assert.ok(texts.some((text) => text.includes('["a.txt"].contains(context.path)')));
    assert.match(textOf(rules[0]?.["allows"]), /whatever the content/);
    // Never for an interpreter, not even for the same words.
    assert.ok(texts.every((text) => !text.includes("shell_exec")));
    const refused = objectsOf(answer["refused"]);
    assert.match(textOf(refused[0]?.["why"]), /do not say all that it runs.*approve ID --rule/);
    assert.equal(objectOf(answer["beyond"])["changed"], 0);
    assert.equal(await readFile(out, "utf8"), texts.join("\n"));
    // Alone they lift a rule that is not there.
    const beside = await holding(out);
    assert.equal((await at.run(["policy", "check", beside])).code, 4);
    await writeFile(join(beside, "rules.cedar"), ASKING);
    assert.equal((await at.run(["policy", "check", beside])).code, 0);

    // One approval alone: the other call that its rule covers is shown.
    const [approvalId = ""] = (rules[0]?.["made_from"] ?? []) as string[];
    const one = await at.ask(["policy", "suggest", approvalId]);
    assert.equal(objectsOf(one["rules"]).length, 1);
    assert.deepEqual(changesOf(objectOf(one["beyond"])), [["human", "allow", "file_write", 2]]);
    assert.match(JSON.stringify(await at.ask(["policy", "suggest", "apr_nobody"], 1)), /no such question/);
  });

  async function holding(file: string): Promise<string> {
    const directory = join(at.root, "only-suggested");
    await mkdir(directory);
    await writeFile(join(directory, "suggested.cedar"), await readFile(file));
    return directory;
  }

  it("never counts erased or unknown calls as unchanged", async () => {
    const hash = blake3(utf8('{"text":"to be erased"}'));
    await kernel.erase({ hashes: [hash], sessionIds: [], reason: "asked for", by: "ada", dryRun: false });
    const same = await whatif(ASKING, 30);
    assert.deepEqual([same["changed"], same["not_evaluated"]], [0, { erased: 1 }]);
    const { stdout } = await at.run(["policy", "whatif", "--policy", candidate]);
    assert.match(stdout, /could not be evaluated: 1 \(erased\)/);
  });
});

describe("calls that observe mode let through", { timeout: 240_000 }, () => {
  it("get suggested rules of their own", async (t) => {
    const at = await createHostedHome();
    t.after(() => at.remove());
    await at.ask(["init"]);
    const configuration = join(at.home, "narthex.yaml");
    const text = await readFile(configuration, "utf8");
    await writeFile(configuration, text.replace("mode: enforce", "mode: observe"));
    await rm(join(at.home, "policy"), { recursive: true });
    await mkdir(join(at.home, "policy"), { mode: 0o700 });
    await writeFile(
      join(at.home, "policy/rules.cedar"),
      '@id("hash") permit(principal, action == Action::"hash", resource);\n',
    );
    const { id } = await at.openSession("--agent", "new");
    await at.ask(["call", "echo", '{"text":"x"}', "--session", id]);
    const answer = await at.ask(["policy", "suggest", "--observed"], 0, { ownProcess: true });
    const [rule, ...rest] = objectsOf(answer["rules"]);
    assert.deepEqual(rest, []);
    assert.match(textOf(rule?.["text"]), /Action::"echo"[^]*context\.input_digest == "[0-9a-f]{64}"/);
    assert.match(textOf(rule?.["allows"]), /exactly this input/);
    assert.equal(objectOf(answer["beyond"])["changed"], 0);
  });
});
