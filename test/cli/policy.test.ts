import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createHostedHome, objectOf, objectsOf, type Serving, type TestHome, textOf } from "./home.ts";

const ECHO = '@id("echo") permit(principal, action == Action::"echo", resource);\n';
const NO_ECHO = '@id("no-echo") @rationale("QUIET") forbid(principal, action == Action::"echo", resource);\n';
const WRITE =
  '@id("docs") permit(principal, action == Action::"file_write", resource) when { context.path like "docs/*" };\n';

const ALONE = { ownProcess: true };

describe("rules in a directory, without a kernel", { timeout: 300_000 }, () => {
  let at: TestHome;
  let directory: string;
  before(async () => {
    at = await createHostedHome();
    directory = join(at.root, "rules");
    await mkdir(directory);
  });
  after(() => at.remove());

  const write = (files: Readonly<Record<string, string>>) =>
    Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(directory, name), text)));

  it("policy check names every problem by file, line and column, and ends with 4", async () => {
    await write({
      "a.cedar": `${ECHO}permit(principal, action == Action::"ecko", resource);\n`,
      "b.cedar": `// é\r\n@aprove("none")\r\npermit(principal, action == Action::"file_read", resource) when { context.pth == "a" };\n`,
    });
    const { code, stdout, stderr } = await at.run(["policy", "check", directory], ALONE);
    assert.equal(code, 4);
    assert.deepEqual(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(": ", 1)[0]),
      ["b.cedar:2:2", "a.cedar:2:29", "b.cedar:3:67"],
    );
    assert.match(stdout, /did you mean `Action::"echo"`\?/);
    assert.match(stdout, /did you mean @approve\?/);
    assert.match(stderr, /3 problems/);
    const json = await at.ask(["policy", "check", directory], 4);
    assert.equal(json["valid"], false);
    assert.deepEqual(
      objectsOf(json["problems"]).map(({ place }) => place),
      ["b.cedar:2:2", "a.cedar:2:29", "b.cedar:3:67"],
    );
  });

  it("policy check rejects a missing directory and one without rules", async () => {
    assert.equal((await at.run(["policy", "check", join(at.root, "nowhere")])).code, 4);
    const empty = join(at.root, "empty");
    await mkdir(empty);
    const { code, stdout } = await at.run(["policy", "check", empty]);
    assert.equal(code, 4);
    assert.match(stdout, /there is no rule, so every call is denied/);
  });

  it("policy check prints the number of valid rules, their engine, and rules that can never apply", async () => {
    await write({
      "a.cedar": ECHO,
      "b.cedar": WRITE.replace("when {", "when { false &&"),
    });
    const { code, stdout } = await at.run(["policy", "check", directory]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^warning: b\.cedar:1:1: policy is impossible/);
    assert.match(stdout, /2 rules in 2 files are valid; evaluated by narthex-cedar\/1\n$/);
    const json = await at.ask(["policy", "check", directory]);
    assert.deepEqual([json["valid"], json["rules"], json["files"]], [true, 2, 2]);
  });

  it("policy check names rules that never ask and rules that never match, and ends with 4 for the first", async () => {
    const never = '@id("never") forbid(principal, action, resource) when { context.tier == "readonly" };\n';
    const files = { "a.cedar": ECHO, "b.cedar": ECHO.replace('"echo")', '"ask-echo") @approve("human")') };
    await write({ ...files, "c.cedar": never });
    const { code, stdout } = await at.run(["policy", "check", directory]);
    assert.equal(code, 4);
    assert.match(stdout, /^warning: c\.cedar:1:1: `never` can never match: .*; did you mean `read_only`\?$/m);
    assert.match(stdout, /^b\.cedar:1:1: `ask-echo` never asks: `echo` \(a\.cedar:1\) permits the same calls/m);
    const json = await at.ask(["policy", "check", directory], 4);
    assert.deepEqual(
      [json["valid"], objectsOf(json["problems"]).length, objectsOf(json["warnings"]).length],
      [false, 1, 1],
    );
    await write({ "a.cedar": ECHO, "b.cedar": files["b.cedar"].replace("human", "always"), "c.cedar": never });
    assert.equal((await at.run(["policy", "check", directory])).code, 0);
  });

  it("policy test prints the examples with another decision, and ends with 1", async () => {
    await write({
      "a.cedar": ECHO,
      "b.cedar": WRITE,
      "a.examples.yaml": [
        "allow:",
        "  - echo {}",
        `  - 'file_write {"path": "docs/a", "content": ""}'`,
        "  - file_read",
        "deny:",
        `  - tool: file_write`,
        `    input: {path: src/a, content: ""}`,
        "    code: NO_MATCHING_RULE",
      ].join("\n"),
    });
    const failing = await at.run(["policy", "test", directory], ALONE);
    assert.equal(failing.code, 1, failing.stdout + failing.stderr);
    assert.match(
      failing.stdout,
      /a\.examples\.yaml:4 +file_read \{\} +should be allow, is deny with INVALID_INPUT by no rule/,
    );
    assert.equal(failing.stdout.trimEnd().split("\n").length, 2);
    await write({ "a.examples.yaml": 'allow: [echo]\ndeny: [\'file_write {"path":"src/a","content":""}\']' });
    assert.match((await at.run(["policy", "test", directory])).stdout, /^2 examples are answered as they say/);
    await write({ "a.examples.yaml": "deney: [echo]" });
    const wrong = await at.run(["policy", "test", directory]);
    assert.equal(wrong.code, 4);
    assert.match(wrong.stderr, /a\.examples\.yaml:1:1: `deney` is not a table; did you mean deny\?/);
  });

  it("the default rules are valid and pass their own examples", async () => {
    await at.run(["init"]);
    assert.equal((await at.ask(["policy", "check"]))["valid"], true);
    assert.deepEqual((await at.ask(["policy", "test"]))["failures"], []);
  });
});

describe("the policy of a running kernel", { timeout: 300_000 }, () => {
  let at: TestHome;
  let serving: Serving;
  let session: string;
  let rules: string;
  before(async () => {
    at = await createHostedHome();
    await at.run(["init"]);
    rules = join(at.home, "policy", "default.cedar");
    await writeFile(rules, ECHO + WRITE);
    assert.equal((await at.ask(["policy", "reload"]))["reloaded"], false);
    serving = await at.serve();
    session = (await at.openSession()).id;
  });
  after(async () => {
    await serving.stop();
    await at.remove();
  });

  const echo = async (requestId: string, code = 0) =>
    at.ask(["call", "echo", '{"a":1}', "--session", session, "--request-id", requestId], code);

  it("stays in force if the files are invalid, and the problem is reported", async () => {
    const before = await at.ask(["policy", "show"]);
    await writeFile(rules, `${ECHO}permit(principal, action == Action::"ecko", resource);`);
    const refused = objectOf((await at.ask(["policy", "reload"], 4))["error"]);
    assert.equal(refused["code"], "POLICY_INVALID");
    assert.equal(objectsOf(refused["violations"])[0]?.["field"], "default.cedar:2:29");
    const { stderr } = await at.run(["policy", "reload"]);
    assert.equal(stderr.split("default.cedar:2:29").length, 2, stderr);
    assert.deepEqual(await at.ask(["policy", "show"]), before);
    await echo("while-invalid");
  });

  it("changes at a reload and not before", async () => {
    await writeFile(rules, ECHO + NO_ECHO + WRITE);
    await echo("before");
    assert.match((await at.run(["policy", "check"])).stderr, /has other rules: `narthex policy reload`/);
    const reloaded = await at.ask(["policy", "reload", "--by", "ada"], 0, ALONE);
    assert.equal(reloaded["changed"], true);
    assert.equal(objectOf(reloaded["policy"])["rule_count"], 3);
    const denied = await echo("after", 3);
    assert.deepEqual([denied["rule_id"], denied["rationale_code"]], ["no-echo", "QUIET"], JSON.stringify(denied));
    assert.equal((await at.run(["policy", "check"])).stderr, "");
    assert.equal((await at.ask(["policy", "reload"]))["changed"], false);
    assert.match((await at.run(["policy", "show"])).stdout, /^policy +in force\nrules +3\nengine +narthex-cedar\/1\n/);
  });

  it("gets each decision confirmed by Cedar itself, on this home and on another", async () => {
    for (const [request, allowed] of [
      ["before", true],
      ["after", false],
    ] as const) {
      const checked = await at.ask(["policy", "recheck", `${session}/${request}`]);
      const [decision] = objectsOf(checked["decisions"]);
      assert.deepEqual([decision?.["same"], decision?.["allowed"]], [true, allowed]);
      assert.equal(decision?.["checked_by"], "cedar-wasm/4.13.0");
      assert.equal((await at.run(["policy", "recheck", textOf(decision?.["proof_hash"])])).code, 0);
    }
    const file = join(at.root, "decision.json");
    await at.ask(["policy", "recheck", `${session}/after`, "--out", file]);
    const elsewhere = await createHostedHome();
    try {
      assert.equal((await elsewhere.run(["policy", "recheck", file], ALONE)).code, 0);
      const text = await readFile(file, "utf8");
      const forgeries = [
        ["forbid(", "permit(", "policy set"],
        ["Context_echo", "Context_ecko", "schema"],
        ['\\"tier\\":\\"', '\\"tier\\":\\"x', "request"],
        ['{\\"a\\":1}', '{\\"a\\":2}', "input"],
      ] as const;
      for (const [from, to, part] of forgeries) {
        const forged = join(elsewhere.root, "forged.json");
        assert.ok(text.includes(from), from);
        await writeFile(forged, text.replace(from, to));
        const { code, stdout } = await elsewhere.run(["policy", "recheck", forged]);
        assert.equal(code, 10, part);
        assert.match(stdout, new RegExp(`the ${part} is [0-9a-f]{64}, the decision was made on`));
      }
      // A proof that says yes where the rules say no.
      const bundle = JSON.parse(text) as { decisions: { proof: string }[] };
      const [decision] = bundle.decisions;
      assert.ok(decision);
      decision.proof = `0801${decision.proof}`;
      const lie = join(elsewhere.root, "lie.json");
      await writeFile(lie, JSON.stringify(bundle));
      const { code, stdout } = await elsewhere.run(["policy", "recheck", lie]);
      assert.equal(code, 10);
      assert.match(stdout, /allowed: was true, is false/);
    } finally {
      await elsewhere.remove();
    }
  });

  it("policy recheck names what it cannot find", async () => {
    assert.equal((await at.run(["policy", "recheck", `${session}/never`])).code, 1);
    assert.equal((await at.run(["policy", "recheck", "00".repeat(32)])).code, 1);
    assert.equal((await at.run(["policy", "recheck", "./nothing.json"])).code, 4);
  });

  it("policy explain names the deciding rules and the failed condition", async () => {
    await serving.stop();
    const input = '{"path":"src/a.txt","content":""}';
    const { stdout, stderr } = await at.run(["policy", "explain", "file_write", input, "--session", session], ALONE);
    assert.match(stdout, /^denied: no rule permits `file_write`.* \(NO_MATCHING_RULE\)\n/, stderr);
    assert.match(stdout, /\n +docs {2}path `src\/a\.txt` is not like `docs\/\*` \(default\.cedar:3\)\n/);
    const echoed = await at.ask(["policy", "explain", "echo", "{}", "--session", session]);
    assert.deepEqual([echoed["answer"], echoed["code"]], ["deny", "QUIET"]);
    const [question] = objectsOf(echoed["questions"]);
    assert.deepEqual(
      objectsOf(question?.["rules"]).map(({ id, verdict }) => [id, verdict]),
      [
        ["echo", "matched"],
        ["no-echo", "matched"],
      ],
    );
    const lease = join(at.root, "lease.json");
    await writeFile(lease, '{"tool_patterns":["echo"]}');
    const narrow = await at.openSession("--lease", lease);
    const refused = await at.ask(["policy", "explain", "file_write", input, "--session", narrow.id]);
    assert.deepEqual([refused["answer"], refused["code"]], ["deny", "LEASE_SCOPE"]);
    assert.deepEqual(
      objectsOf(refused["missing"]).map(({ code }) => code),
      ["LEASE_SCOPE"],
    );
    const missing = await at.ask(["policy", "explain", "nothing", "{}"], 1);
    assert.equal(objectOf(missing["error"])["code"], "TOOL_NOT_FOUND");
  });
});
