import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { runCommand } from "../repository/run-command.ts";
import { createTemporaryTree } from "../repository/temporary-tree.ts";
import { assertWellFormed } from "./well-formed.ts";

const COMMAND = join(REPOSITORY, "bench/run-bench.ts");

const GOOD = `
  export const goodOne = async ({ rounds }) => ({
    rows: [
      { what: "good <calls>", ours: { value: 300, unit: "/s" }, beside: { value: 200, unit: "/s", name: "theirs" },
        ratio: 1.5, bar: { of: "ratio", limit: "at least", value: 1 }, picture: "good & fast" },
      { what: "without a bar", ours: { value: 12345.6, unit: "/s" } },
    ],
    raw: { "ours, /s": Array.from({ length: rounds }, (_, round) => 300 + round) },
    notes: ["a note"],
  });`;
const BAD = `
  export const badOne = async () => ({
    rows: [{ what: "bad", ours: { value: 48, unit: "MB" }, bar: { of: "ours", limit: "at most", value: 32 }, picture: "bad" }],
    raw: {},
  });`;
const ABSENT = `
  export const absentOne = async () => { throw Object.assign(new Error("no such program"), { name: "NotMeasured" }); };`;
const BROKEN = `export const brokenOne = async () => { throw new Error("it broke"); };`;
const ENDLESS = `
  import { spawn } from "node:child_process";
  import { writeFileSync } from "node:fs";
  import { dirname, join } from "node:path";
  export const endlessOne = () => new Promise(() => {
    const server = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
    writeFileSync(join(dirname(import.meta.filename), "pid"), String(server.pid));
  });`;

/** Families by name, each with its measurements by file name, and a run of the command on them. */
function createBench(context: TestContext, families: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const files = Object.entries(families).flatMap(([family, measurements]) => [
    [
      `families/${family}/family.ts`,
      `export const family = { title: "a made-up one", measurements: ${JSON.stringify(Object.keys(measurements))}, packages: ["typescript"] };`,
    ],
    ...Object.entries(measurements).map(([name, text]) => [`families/${family}/${name}.ts`, text]),
  ]);
  const root = createTemporaryTree(context, { "docs/.keep": "", "raw/.keep": "", ...Object.fromEntries(files) });
  const places = ["--families", join(root, "families"), "--docs", join(root, "docs"), "--raw", join(root, "raw")];
  return {
    root,
    run: (...words: string[]) => runCommand(process.execPath, [COMMAND, ...places, "--directory", root, ...words]),
    /** Runs it until a measurement has said something. */
    interrupt: (signal: NodeJS.Signals) =>
      runCommand(process.execPath, [COMMAND, ...places, "--directory", root], {
        onFirstOutput: (child) => child.kill(signal),
      }),
    read: (path: string) => readFileSync(join(root, path), "utf8"),
  };
}

test("an unknown family or measurement is a usage error that names the known ones", async (context) => {
  const bench = createBench(context, { one: { "good-one": GOOD, "bad-one": BAD }, two: { "good-one": GOOD } });
  const family = await bench.run("one", "on");
  assert.deepEqual([family.code, family.output], [2, "no family is called `on`; there are: one, two\n"]);
  const measurement = await bench.run("one/good");
  assert.deepEqual(
    [measurement.code, measurement.output],
    [2, "no measurement of one is called `good`; there are: good-one, bad-one\n"],
  );
});

test("contradictory arguments are usage errors", async (context) => {
  const bench = createBench(context, { one: { "good-one": GOOD } });
  for (const words of [["--rounds", "0"], ["--scale", "2"], ["--minutes", "soon"], ["--wirte"]]) {
    const end = await bench.run(...words);
    assert.equal(end.code, 2, words.join(" "));
    assert.match(end.output, /npm run bench -- --help/);
  }
});

test("only full runs of whole families are kept", async (context) => {
  const bench = createBench(context, { one: { "good-one": GOOD } });
  for (const words of [["--rounds", "1"], ["--scale", "0.5"], ["one/good-one"]]) {
    const end = await bench.run("--write", ...words);
    assert.equal(end.code, 2, words.join(" "));
    assert.match(end.output, /--write keeps (full runs|whole families) only/);
  }
  assert.deepEqual(readdirSync(join(bench.root, "docs")), [".keep"]);
});

test("the help names every option and the exit codes", async () => {
  const end = await runCommand(process.execPath, [COMMAND, "--help"]);
  assert.equal(end.code, 0);
  for (const option of [
    "--write",
    "--rounds",
    "--scale",
    "--directory",
    "--families",
    "--docs",
    "--raw",
    "--minutes",
  ]) {
    assert.ok(end.output.includes(`  ${option} `), option);
  }
  assert.match(end.output, /Exit codes: 0 .*, 1 .*, 2 /);
});

test("met bars exit successfully with a table, and each round's figures with the machine they were measured on", async (context) => {
  const bench = createBench(context, { one: { "good-one": GOOD } });
  const end = await bench.run("--rounds", "3");
  assert.equal(end.code, 0, end.output);
  assert.match(end.output, /^what +ours +beside it +ratio +bar +met\?$/m);
  assert.match(end.output, /^good <calls> +300 \/s +200 \/s theirs +1\.5 +>= 1 x +yes$/m);
  assert.match(end.output, /^without a bar +12,346 \/s$/m);
  assert.match(end.output, /^ {2}a note$/m);
  assert.equal(end.output.includes("\u001b"), false);
  const kept = JSON.parse(bench.read("raw/one.json"));
  assert.deepEqual(kept.measurements[0].raw, { "ours, /s": [300, 301, 302] });
  assert.equal(kept.facts.node, process.version);
  assert.match(kept.facts.packages.typescript, /^\d+\.\d+\.\d+$/);
  assert.match(kept.facts.commit, /^([0-9a-f]{40}\+?|unknown: .*)$/);
});

test("a missed bar is reported with its distance, and fails the run", async (context) => {
  const bench = createBench(context, { one: { "bad-one": BAD, "good-one": GOOD } });
  const end = await bench.run();
  assert.equal(end.code, 1);
  assert.match(end.output, /^bad +48 MB +<= 32 MB +NO: 50 % above the bar$/m);
  assert.match(end.output, /^good <calls> .* yes$/m);
});

test("a measurement that cannot run here says why and is no failure; a broken one is, and the rest runs", async (context) => {
  const bench = createBench(context, {
    one: { "absent-one": ABSENT },
    two: { "broken-one": BROKEN, "good-one": GOOD },
  });
  const absent = await bench.run("one");
  assert.equal(absent.code, 0, absent.output);
  assert.match(absent.output, /^absent-one +not measured: no such program$/m);
  const broken = await bench.run("two");
  assert.equal(broken.code, 1);
  assert.match(broken.output, /^broken-one +failed: it broke$/m);
  assert.match(broken.output, /^good <calls> .* yes$/m);
});

test("one measurement of a family can be made alone", async (context) => {
  const bench = createBench(context, { one: { "broken-one": BROKEN, "good-one": GOOD } });
  const end = await bench.run("one/good-one");
  assert.equal(end.code, 0, end.output);
  assert.doesNotMatch(end.output, /broken-one/);
});

test("a measurement that takes too long is killed with all its processes", async (context) => {
  const bench = createBench(context, { one: { "endless-one": ENDLESS } });
  const end = await bench.run("--minutes", "0.1");
  assert.equal(end.code, 1);
  assert.match(end.output, /^endless-one +failed: the family's time was over$/m);
  // The server held the run's output open: that the run could be read to its end says that the server has ended.
  assert.equal(isRunning(bench.read("families/one/pid")), false);
  assert.deepEqual(
    readdirSync(bench.root).filter((name) => name.startsWith("narthex-bench-")),
    [],
  );
});

test("an interrupted run kills its processes and leaves no files", async (context) => {
  const endless = `${ENDLESS}\nconsole.log("measuring");`;
  const bench = createBench(context, { one: { "endless-one": endless } });
  const end = await bench.interrupt("SIGTERM");
  assert.equal(end.signal, "SIGTERM", end.output);
  assert.deepEqual(
    readdirSync(bench.root).filter((name) => name.startsWith("narthex-bench-")),
    [],
  );
});

/** A process that has ended and that nobody has asked about yet is a zombie. */
function isRunning(pid: string): boolean {
  const status = `/proc/${pid}/status`;
  return existsSync(status) && !/^State:\s+[ZX]/m.test(readFileSync(status, "utf8"));
}

test("--write keeps numbers and tables, and one picture of all families kept so far", async (context) => {
  const bench = createBench(context, { one: { "good-one": GOOD }, two: { "bad-one": BAD } });
  assert.equal((await bench.run("one", "--write")).code, 0);
  assert.equal((await bench.run("two", "--write")).code, 1);
  assert.equal(existsSync(join(bench.root, "raw/one.json")), false);
  assert.equal(JSON.parse(bench.read("docs/one.json")).rounds, 5);
  assert.match(
    bench.read("docs/one.md"),
    /^\| good <calls> \| 300 \/s \| 200 \/s theirs \| 1\.5 \| >= 1 x \| yes \|$/m,
  );
  const picture = bench.read("docs/ratios.svg");
  writeFileSync(join(bench.root, "docs/ratios.svg"), "");
  assert.equal((await bench.run("--redraw")).code, 0);
  assert.equal(bench.read("docs/ratios.svg"), picture);
  assertWellFormed(picture);
  assert.match(picture, /good &amp; fast/);
  const bars = [...picture.matchAll(/<rect class="(met|missed)" x="(\d+)" y="\d+" width="(\d+)"/g)];
  const line = Number(/<line class="bar" x1="(\d+)"/.exec(picture)?.[1]);
  assert.deepEqual(
    bars.map(([, verdict, x, width]) => [verdict, Number(x) === line, Number(x) + Number(width) === line]),
    [
      ["met", true, false],
      ["missed", false, true],
    ],
  );
});
