import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { runCommand } from "./run-command.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

const CHECKS = join(REPOSITORY, "scripts/checks");

test("an unknown step is a usage error that names the known ones", async () => {
  const end = await runCommand(process.execPath, [join(CHECKS, "run-checks.ts"), "lnit"]);
  assert.equal(end.code, 2);
  assert.match(end.output, /no step is called `lnit`; there are: .*\btypes-and-lint\b/);
});

test("the last lines are those of Node's test runner, then a summary", async () => {
  const end = await runCommand(process.execPath, [join(CHECKS, "run-checks.ts"), "wording", "lock-file"]);
  const names = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms"];
  const closing = end.output.trimEnd().split("\n").slice(-9);
  assert.deepEqual(
    closing.slice(0, 8).map((line) => line.replace(/ \d+$/, "")),
    names.map((name) => `# ${name}`),
  );
  assert.equal(closing[0], "# tests 2");
  assert.match(closing[8] ?? "", /^\d passed, \d failed$/);
  assert.equal(end.code, closing[3] === "# fail 0" ? 0 : 1);
});

/** Runs test files the way `npm test` does; the last line is the counts. */
async function runTestFiles(
  context: TestContext,
  files: Readonly<Record<string, string>>,
  silenceMs: number,
  together = false,
) {
  const root = createTemporaryTree(context, {
    ...files,
    "run.ts": `
      import { createLanes } from ${JSON.stringify(join(CHECKS, "lanes.ts"))};
      import { runTests } from ${JSON.stringify(join(CHECKS, "run-tests.ts"))};
      const globPatterns = [import.meta.dirname + "/*.test.ts"];
      const together = ${together} ? [{ folder: import.meta.dirname }] : [];
      const run = { globPatterns, together, silenceMs: ${silenceMs} };
      console.log(JSON.stringify(await runTests(run, createLanes(2), console.log)));`,
  });
  const { output } = await runCommand(process.execPath, [join(root, "run.ts")]);
  const counts: unknown = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
  return { counts, output };
}

test("failed tests are counted and shown, with their file's output", async (context) => {
  const files = {
    "good.test.ts": `import { test } from "node:test"; console.log("all is well"); test("good", () => {});`,
    "bad.test.ts": `
      import { describe, test } from "node:test";
      console.log("just before");
      describe("group", () => { test("bad", () => { throw new Error("planted"); }); test("fine", () => {}); });`,
    "broken.test.ts": `throw new Error("does not load");`,
  };
  const { counts, output } = await runTestFiles(context, files, 60_000);
  assert.deepEqual(counts, { tests: 4, suites: 1, passed: 2, failed: 2, cancelled: 0, skipped: 0, todo: 0 });
  assert.match(output, /FAILED \S*bad\.test\.ts:\d+ bad\n {4}Error: planted/);
  assert.match(output, /just before/);
  assert.match(output, /Error: does not load/);
  assert.doesNotMatch(output, /all is well|FAILED \S+ group/);
});

test("files that share a process count as separate files, and have their own hooks and mocks", async (context) => {
  const reads = `import assert from "node:assert";\nimport { test } from "node:test";\n`;
  const files = {
    "a.test.ts": `${reads} globalThis.shared = true; test("good", () => {});`,
    "b.test.ts": `${reads} console.log("of b"); test("shares", () => assert.equal(globalThis.shared, true));
      test("bad", () => { throw new Error("planted"); });`,
    "c.test.ts": `${reads.replace("{ test }", "{ mock, test }")} mock.method(process, "uptime", () => -1);
      mock.timers.enable({ apis: ["Date"] }); test("mocks", () => assert.equal(process.uptime() + Date.now(), -1));`,
    "d.test.ts": `${reads.replace("{ test }", "{ after, test }")}\nafter(() => { globalThis.ended = true; });
      test("shares", () => assert.equal(globalThis.ended, undefined));`,
    "e.test.ts": `${reads} assert.equal(globalThis.ended, true);
      test("good", () => assert.ok(process.uptime() > 0 && Date.now() > 0));`,
  };
  const { counts, output } = await runTestFiles(context, files, 60_000, true);
  assert.deepEqual(counts, { tests: 6, suites: 0, passed: 5, failed: 1, cancelled: 0, skipped: 0, todo: 0 });
  assert.match(output, /FAILED \S*b\.test\.ts:4 bad\n {4}Error: planted/);
  assert.match(output, /failed \S*b\.test\.ts \(2, [^]*ok \S*e\.test\.ts \(1, /);
  assert.match(output, /printed by \S*a\.test\.ts, \S*b\.test\.ts[^:]*:\n {4}of b\n/);
});

test("a failure outside of any test counts as one, shared or not", async (context) => {
  const hook = `import { after, describe, it } from "node:test";
    describe("group", () => { it("good", () => {}); after(() => { throw new Error("planted"); }); });`;
  const files = { "a.test.ts": hook, "b.test.ts": `throw new Error("does not load");` };
  for (const together of [true, false]) {
    const { counts, output } = await runTestFiles(context, files, 60_000, together);
    assert.deepEqual(counts, { tests: 3, suites: 1, passed: 1, failed: 2, cancelled: 0, skipped: 0, todo: 0 });
    assert.match(output, /FAILED \S*a\.test\.ts:\d+ group\n {4}Error: planted/);
    assert.match(output, /Error: does not load/);
  }
});

test("an endless file is killed and named", async (context) => {
  const endless = `import { test } from "node:test"; setInterval(() => {}, 1000); test("good", () => {});`;
  const { counts, output } = await runTestFiles(context, { "endless.test.ts": endless }, 2000);
  assert.deepEqual(counts, { tests: 2, suites: 0, passed: 1, failed: 0, cancelled: 1, skipped: 0, todo: 0 });
  assert.match(output, /killed after 2\.0 s of silence: \S*endless\.test\.ts\n/);
});

test("the slowest files are started first, and a missing one is named", async (context) => {
  const quiet = `import { test } from "node:test"; test("good", () => {});`;
  const root = createTemporaryTree(context, {
    "a.test.ts": quiet,
    "b.test.ts": quiet,
    "run.ts": `
      import { createLanes } from ${JSON.stringify(join(CHECKS, "lanes.ts"))};
      import { runTests } from ${JSON.stringify(join(CHECKS, "run-tests.ts"))};
      const [at, name] = [import.meta.dirname, process.argv[2]];
      const options = { globPatterns: [at + "/*.test.ts"], longest: [at + "/" + name] };
      await runTests(options, createLanes(1), console.log);`,
  });
  const run = (name: string) => runCommand(process.execPath, [join(root, "run.ts"), name]);
  const end = await run("b.test.ts");
  assert.equal(end.code, 0, end.output);
  assert.match(end.output, /ok \S*b\.test\.ts[^]*ok \S*a\.test\.ts/);
  assert.match((await run("c.test.ts")).output, /there is no \S*c\.test\.ts/);
});
