import assert from "node:assert/strict";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { type ExampleDecision, runExamples } from "./examples.ts";
import { parseExamples, readExamples } from "./read-examples.ts";
import { readPolicyDirectory } from "./read-policy-directory.ts";

const parse = (text: string) => parseExamples([{ name: "e.examples.yaml", text }]);

function problemsOf(text: string): string[] {
  try {
    parse(text);
    return [];
  } catch (fault) {
    if (!isKernelError(fault) || fault.code !== "POLICY_INVALID") throw fault;
    return fault.violations.map(({ field, message }) => `${field}: ${message}`);
  }
}

test("what is no table, no call or no known key is refused with its place", () => {
  assert.deepEqual(problemsOf("deney:\n  - echo"), ["e.examples.yaml:1:1: `deney` is not a table; did you mean deny?"]);
  assert.deepEqual(problemsOf("allow:\n  - tool: echo\n    inputt: 1"), [
    "e.examples.yaml:3:5: `inputt` is not a key; did you mean input?",
  ]);
  assert.match(problemsOf("allow: echo")[0] ?? "", /^e\.examples\.yaml:1:8: `allow` must be a list of calls/);
  assert.match(problemsOf("- echo")[0] ?? "", /^e\.examples\.yaml:1:1: must have the tables/);
  assert.match(problemsOf("allow:\n  - input: {}")[0] ?? "", /2:5: `tool` must be given/);
  assert.match(problemsOf("allow:\n  - 5")[0] ?? "", /2:5: must be `\{tool: NAME/);
  assert.match(problemsOf("allow:\n  - 'Rm -rf'")[0] ?? "", /2:5: must be a tool and its input/);
  assert.match(problemsOf("allow:\n  - 'echo {a: 1}'")[0] ?? "", /2:5: the input is not JSON/);
  assert.match(problemsOf('allow:\n  - \'echo {"a":1,"a":2}\'')[0] ?? "", /2:5: the input is not JSON/);
  assert.match(problemsOf("allow:\n  - {tool: echo, labels: secret}")[0] ?? "", /2:26: must be a list of texts/);
  assert.match(problemsOf("allow:\n  - {tool: echo, labels: [1]}")[0] ?? "", /2:27: must be text/);
  assert.deepEqual(problemsOf("deny:\n  - {tool: http_fetch, hosts: [a.test, 'b c', 0x7f.1, '']}"), [
    "e.examples.yaml:2:55: must be text",
    "e.examples.yaml:2:31: `b c` is no host",
    "e.examples.yaml:2:31: `0x7f.1` is no host",
  ]);
});

test("YAML that JSON cannot say, or that repeats itself, is refused", () => {
  assert.match(problemsOf("allow:\n  - {tool: echo, input: .nan}")[0] ?? "", /2:25: is nothing that JSON can say/);
  assert.match(
    problemsOf("allow:\n  - {tool: echo, input: &a [1]}\n  - {tool: echo, input: *a}")[0] ?? "",
    /3:25: is nothing/,
  );
  assert.match(problemsOf("allow: []\nallow: []")[0] ?? "", /2:1: is not YAML: Map keys must be unique/);
  assert.match(problemsOf("allow: [")[0] ?? "", /is not YAML/);
  assert.match(problemsOf("[".repeat(100_000))[0] ?? "", /^e\.examples\.yaml:1:65: is more than examples can need/);
  assert.match(problemsOf("a: 1\n---\nb: 1")[0] ?? "", /is not YAML/);
});

test("both forms are read, in order, with their lines", () => {
  const text = [
    "allow:",
    '  - \'file_read {"path": "a"}\'',
    "  - echo",
    "ask:",
    "deny:",
    "  - tool: file_write",
    "    input: {path: .git/config, content: yes}",
    "    labels: [secret]",
    "    hosts: [A.test, '*.b.test', '::1']",
    "    rule: no-git",
    "    code: PROTECTED",
  ].join("\n");
  const hosts = [{ host: "a.test" }, { host: "*.b.test" }, { host: "::1" }];
  const plain = { labels: [], capabilities: [], rule: undefined, code: undefined, file: "e.examples.yaml" };
  assert.deepEqual(parse(text), [
    { ...plain, expected: "allow", tool: "file_read", input: { path: "a" }, line: 2 },
    { ...plain, expected: "allow", tool: "echo", input: {}, line: 3 },
    {
      expected: "deny",
      tool: "file_write",
      input: { path: ".git/config", content: "yes" },
      labels: ["secret"],
      capabilities: [
        { kind: "net_read", hosts },
        { kind: "net_write", hosts },
      ],
      rule: "no-git",
      code: "PROTECTED",
      file: "e.examples.yaml",
      line: 6,
    },
  ]);
  assert.deepEqual(parse(""), []);
});

test("examples that are answered otherwise, by another rule or with another code are told", async () => {
  const examples = parse(
    "allow: [echo]\nask: [echo]\ndeny: [{tool: echo, rule: r}, {tool: echo, code: C}, {tool: echo, rule: s, code: D}]",
  );
  const answer: ExampleDecision = { answer: "deny", rules: ["s"], code: "D" };
  const failures = await runExamples(examples, () => answer);
  assert.deepEqual(
    failures.map(({ problem }) => problem),
    [
      "should be allow, is deny with D by s",
      "should be ask, is deny with D by s",
      "should be decided by r, is decided by s",
      "should say C, says D",
    ],
  );
});

async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "narthex-policy-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test("what cannot be read is refused, not left out", async (t) => {
  const path = await directory(t);
  await writeFile(join(path, "good.cedar"), "permit(principal, action, resource);");
  await writeFile(join(path, "latin.cedar"), Uint8Array.of(0x2f, 0x2f, 0xe9));
  await symlink("nowhere", join(path, "gone.cedar"));
  await symlink("/dev/zero", join(path, "endless.cedar"));
  await writeFile(join(path, "long.cedar"), "/".repeat(1_048_577));
  await assert.rejects(readPolicyDirectory(path), (fault: unknown) => {
    assert.ok(isKernelError(fault) && fault.code === "POLICY_INVALID");
    assert.deepEqual(
      fault.violations.map(({ field, message }) => `${field} ${message}`),
      [
        "`endless.cedar` is not a file",
        "`gone.cedar` cannot be read (ENOENT)",
        "`latin.cedar` is not UTF-8 text",
        "`long.cedar` the file is longer than 1 MB; split it",
      ],
    );
    return true;
  });
  await assert.rejects(readPolicyDirectory(join(path, "missing")), /cannot be read \(ENOENT\)/);
});

test("rules and examples of a directory are read in the order of their names, and nothing else", async (t) => {
  const path = await directory(t);
  await writeFile(join(path, "b.cedar"), "\ufeffb");
  await writeFile(join(path, ".a.cedar"), "a");
  await writeFile(join(path, "b.cedar~"), "backup");
  await writeFile(join(path, "b.examples.yaml"), "allow: [echo]");
  assert.deepEqual(await readPolicyDirectory(path), [
    { name: ".a.cedar", text: "a" },
    { name: "b.cedar", text: "\ufeffb" },
  ]);
  assert.deepEqual(
    (await readExamples(path)).map(({ tool }) => tool),
    ["echo"],
  );
});
