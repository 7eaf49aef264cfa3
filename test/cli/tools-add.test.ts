import assert from "node:assert/strict";
import { chmod, chown, cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createHostedHome, objectOf, objectsOf, type Serving, type TestHome, textOf } from "./home.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/tools/", import.meta.url));

/** As root, programs work as whoever owns the workspace, who must not be root. */
async function openHome(): Promise<TestHome> {
  const at = await createHostedHome();
  await chmod(at.root, 0o755);
  if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
  return at;
}

describe("adding, allowing and calling the examples", { timeout: 300_000 }, () => {
  let at: TestHome;
  let session: string;
  before(async () => {
    at = await openHome();
    for (const path of ["python/tool.yaml", "bash/tool.json", "typescript/text-tools.ts"]) {
      await at.ask(["tools", "add", join(EXAMPLES, path), "--allow"]);
    }
    await at.serve();
    session = (await at.openSession()).id;
    await writeFile(join(at.workspace, "small.txt"), "1");
    await writeFile(join(at.workspace, 'lar"ge.txt'), "12345");
  });
  after(() => at.remove());

  const call = async (tool: string, input: string): Promise<unknown> =>
    (await at.ask(["call", tool, input, "--session", session]))["result"];

  it("works in Python", async () => {
    const counted = await call("word_count", '{"text": "the cat, the dog and the end"}');
    assert.deepEqual(counted, { words: 7, most_frequent: ["the", "and", "cat"] });
  });

  it("works in Bash", async () => {
    assert.deepEqual(await call("largest_files", "{}"), [
      { path: 'lar"ge.txt', size: 5 },
      { path: "small.txt", size: 1 },
    ]);
    assert.deepEqual(await call("largest_files", '{"count":1}'), [{ path: 'lar"ge.txt', size: 5 }]);
  });

  it("works in TypeScript, with two tools from one module", async () => {
    assert.equal(await call("slugify", '{"text":"Éclair & Co."}'), "eclair-co");
    assert.equal(await call("acronym", '{"text":"tool kernel"}'), "TK");
  });

  it("records every call in a sound ledger", async () => {
    assert.equal((await at.run(["ledger", "verify"])).code, 0);
  });
});

describe("narthex tools add", { timeout: 300_000 }, () => {
  let at: TestHome;
  let place: string;
  before(async () => {
    at = await openHome();
    place = join(at.root, "word-count");
    await cp(join(EXAMPLES, "python"), place, { recursive: true });
  });
  after(() => at.remove());

  const manifest = (): string => join(place, "tool.yaml");
  const change = async (file: string, from: string, to: string): Promise<void> => {
    const text = await readFile(join(place, file), "utf8");
    assert.ok(text.includes(from));
    await writeFile(join(place, file), text.replace(from, to));
  };

  it("shows the tool's capabilities and the exact rule that would permit it, and permits nothing by itself", async () => {
    const { id: earlier } = await at.openSession();
    const { code, stdout } = await at.run(["tools", "add", manifest()], { ownProcess: true });
    assert.equal(code, 0);
    for (const said of [
      "added word_count@1.0.0",
      "no files, no network, no second process",
      "read_only",
      "word_count.py",
    ]) {
      assert.ok(stdout.includes(said), `${said} in ${stdout}`);
    }
    const rule =
      '@id("tool-word-count")\n@approve("none")\npermit(principal, action == Action::"word_count", resource);';
    assert.ok(stdout.includes(rule), stdout);
    assert.ok(stdout.includes("open a new session"), stdout);
    const older = await at.ask(["call", "word_count", '{"text":"a"}', "--session", earlier], 3);
    assert.equal(older["rationale_code"], "LEASE_SCOPE", "its lease was made before there was such a tool");
    const { id } = await at.openSession();
    const computed = await at.ask(["call", "word_count", '{"text":"a"}', "--session", id]);
    assert.equal(computed["status"], "success", "the default policy permits what has no effect");
    assert.equal((await at.run(["tools", "add", join(EXAMPLES, "bash", "tool.json")])).code, 0);
    const reader = (await at.openSession()).id;
    const denied = await at.ask(["call", "largest_files", "{}", "--session", reader], 3);
    assert.equal(denied["rationale_code"], "NO_MATCHING_RULE");
    const own = rule.replaceAll("word-count", "largest-files").replaceAll("word_count", "largest_files");
    await writeFile(join(at.home, "policy", "mine.cedar"), own);
    assert.equal((await at.ask(["call", "largest_files", "{}", "--session", reader]))["status"], "success");
    await rm(join(at.home, "policy", "mine.cedar"));
    assert.equal((await at.run(["tools", "remove", "largest_files"])).code, 0);
  });

  it("accepts the same tool again, and another one with its name and version only with --replace", async () => {
    assert.equal(objectsOf((await at.ask(["tools", "add", manifest()]))["tools"])[0]?.["state"], "unchanged");
    await change("word_count.py", "lower()", "upper()");
    const refused = await at.ask(["tools", "add", manifest()], 1);
    assert.equal(objectOf(refused["error"])["code"], "ALREADY_REGISTERED");
    const before = textOf((await at.ask(["tools", "show", "word_count"]))["definition_hash"]);
    const replaced = await at.ask(["tools", "add", manifest(), "--replace"]);
    assert.equal(objectsOf(replaced["tools"])[0]?.["state"], "replaced");
    const after = textOf((await at.ask(["tools", "show", "word_count"]))["definition_hash"]);
    assert.notEqual(after, before);
    await change("tool.yaml", "version: 1.0.0", "version: 1.1.0");
    assert.equal(objectsOf((await at.ask(["tools", "add", manifest()]))["tools"])[0]?.["state"], "added");
    const shown = await at.ask(["tools", "list", "--all-versions"]);
    const versions = objectsOf(shown["tools"]).filter(({ name }) => name === "word_count");
    assert.deepEqual(
      versions.map(({ version }) => version),
      ["1.0.0", "1.1.0"],
    );
  });

  describe("on a home with a running kernel", () => {
    let serving: Serving;
    before(async () => {
      serving = await at.serve();
    });
    after(async () => assert.equal(await serving.stop(), 0));

    it("copies the files to a directory that other users cannot write to", async () => {
      const { stdout } = await at.run(["tools", "add", manifest()]);
      assert.match(stdout, /is there already, unchanged/);
      for (const entry of await readdir(join(at.home, "tools"), { recursive: true, withFileTypes: true })) {
        const { mode } = await stat(join(entry.parentPath, entry.name));
        assert.equal(mode & 0o077, 0, entry.name);
      }
    });

    it("rejects a name that another tool's rule would permit", async () => {
      await change("tool.yaml", "name: word_count", "name: echo");
      await change("tool.yaml", "version: 1.1.0", "version: 9.0.0");
      const refused = objectOf((await at.ask(["tools", "add", manifest()], 1))["error"]);
      assert.equal(refused["code"], "ALREADY_REGISTERED");
      assert.match(textOf(refused["message"]), /built-in/);
      await change("tool.yaml", "name: echo", "name: write_protected");
      assert.equal(objectOf((await at.ask(["tools", "add", manifest()], 1))["error"])["code"], "ALREADY_REGISTERED");
      await change("tool.yaml", "name: write_protected", "name: word_count");
    });

    it("rejects a tool inside the workspace of an open session", async () => {
      const inside = join(at.workspace, "deep", "tool");
      await mkdir(join(at.workspace, "deep"));
      await cp(join(EXAMPLES, "python"), inside, { recursive: true });
      await at.openSession();
      const refused = objectOf((await at.ask(["tools", "add", join(inside, "tool.yaml")], 1))["error"]);
      assert.match(textOf(refused["message"]), /lies in the workspace of an open session/);
      const module = join(at.workspace, "deep", "tools.ts");
      await cp(join(EXAMPLES, "typescript/text-tools.ts"), module);
      await at.ask(["tools", "add", module], 1);
      assert.equal(
        (await readdir(join(at.home, "tools"))).some((name) => name.startsWith("slugify")),
        false,
      );
      for (const { session_id: open } of objectsOf((await at.ask(["session", "list"]))["sessions"])) {
        await at.ask(["session", "close", textOf(open)]);
      }
      await at.ask(["tools", "add", module]);
      await at.ask(["tools", "remove", "slugify"]);
      // Nor can a session be opened where added tools lie.
      const opened = await at.ask(["session", "open", "--workspace", join(at.home, "tools")], 4);
      assert.equal(objectOf(opened["error"])["code"], "WORKSPACE_REFUSED");
    });

    it("writes no rule that would make the policy invalid", async () => {
      await writeFile(
        join(at.home, "policy", "taken.cedar"),
        '@id("tool-word-count") permit(principal, action == Action::"hash", resource);',
      );
      const refused = objectOf((await at.ask(["tools", "add", manifest(), "--allow"], 4))["error"]);
      assert.equal(refused["code"], "POLICY_INVALID");
      await rm(join(at.home, "policy", "taken.cedar"));
      assert.ok(!(await readdir(join(at.home, "policy"))).includes("tool-word-count.cedar"));
    });

    it("names the file and every problem of a manifest, with exit code 1", async () => {
      await writeFile(join(at.root, "bad.json"), '{"name":"Bad","effects":["net_read"],"extra":1}');
      const { code, stderr } = await at.run(["tools", "add", join(at.root, "bad.json")]);
      assert.equal(code, 1);
      for (const said of ["bad.json", "name:", "capabilities:", "extra:", "version:", "command:"]) {
        assert.ok(stderr.includes(said), `${said} in ${stderr}`);
      }
      assert.equal((await at.run(["tools", "add"])).code, 2);
      assert.equal((await at.run(["tools", "add", join(at.root, "missing.json")])).code, 1);
    });
  });

  it("reports that a running kernel must be restarted, and denies the tool until then", async () => {
    await at.ask(["tools", "add", manifest(), "--allow"]);
    const serving = await at.serve();
    const { id } = await at.openSession();
    const count = (text: string, code = 0) =>
      at.ask(["call", "word_count", JSON.stringify({ text }), "--session", id], code);
    assert.equal((await count("a"))["status"], "success");
    await change("word_count.py", "upper()", "lower()");
    const { stderr } = await at.run(["tools", "add", manifest(), "--replace"]);
    assert.match(stderr, /takes the tool up when it is started again/);
    const failed = await count("b", 1);
    assert.equal(failed["error_code"], "TOOL_QUARANTINED");
    assert.equal(await serving.stop(), 0);
    const again = await at.serve();
    assert.equal((await count("c"))["status"], "success");
    assert.equal(await again.stop(), 0);
  });

  it("is reverted by tools remove, including the rule that it wrote", async () => {
    const removed = await at.ask(["tools", "remove", "word_count"], 0, { ownProcess: true });
    assert.ok(Array.isArray(removed["removed"]));
    assert.ok(removed["removed"].length >= 2);
    assert.ok(!(await readdir(join(at.home, "policy"))).includes("tool-word-count.cedar"));
    assert.deepEqual(await readdir(join(at.home, "tools")), ["acronym@1.0.0"]);
    assert.equal((await at.run(["tools", "remove", "word_count"])).code, 1);
    assert.equal((await at.run(["tools", "remove", "echo"])).code, 1);
  });
});
