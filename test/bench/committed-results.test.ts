import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { renderPage } from "../../bench/harness/render-page.ts";
import { renderPicture } from "../../bench/harness/render-picture.ts";
import { renderTerminal, wantsColours } from "../../bench/harness/render-terminal.ts";
import { readReports } from "../../bench/harness/write-reports.ts";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { assertWellFormed } from "./well-formed.ts";

const DOCS = join(REPOSITORY, "docs/bench");
const reports = readReports(DOCS);
const read = (name: string): string => readFileSync(join(DOCS, name), "utf8");

test("numbers are kept for every family there is", () => {
  const kept = reports.map(({ family }) => family);
  assert.deepEqual(kept, readdirSync(join(REPOSITORY, "bench/families")).sort());
});

test("kept numbers are of full runs: five rounds, nothing that failed, every figure a number", () => {
  for (const { family, rounds, scale, facts, measurements } of reports) {
    assert.deepEqual([rounds >= 5, scale], [true, 1], family);
    assert.match(facts.commit, /^[0-9a-f]{40}/);
    for (const { name, failed, notMeasured, rows, raw } of measurements) {
      assert.equal(failed, undefined, `${family}/${name}`);
      assert.ok(notMeasured !== undefined || (rows.length > 0 && Object.keys(raw).length > 0), `${family}/${name}`);
      const figures = [
        ...rows.flatMap(({ ours, beside, ratio }) => [ours.value, beside?.value ?? 0, ratio ?? 0]),
        ...Object.values(raw).flat(),
      ];
      assert.ok(figures.every(Number.isFinite), `${family}/${name}`);
    }
  }
});

test("tables and picture show the kept numbers", () => {
  for (const report of reports) assert.equal(read(`${report.family}.md`), renderPage(report), report.family);
  assert.equal(read("ratios.svg"), renderPicture(reports));
  assertWellFormed(read("ratios.svg"));
});

test("the front page shows the picture", () => {
  assert.match(readFileSync(join(REPOSITORY, "README.md"), "utf8"), /!\[[^\]]+\]\(docs\/bench\/ratios\.svg\)/);
});

test("on a terminal a missed bar is red and a met one green, unless NO_COLOR is set", () => {
  const row = (value: number) => ({
    what: `of ${value}`,
    ours: { value, unit: "/s" },
    bar: { of: "ours", limit: "at least", value: 10 } as const,
  });
  const [report] = reports;
  assert.ok(report);
  const measurements = [{ name: "made-up", seconds: 1, rows: [row(9), row(11)], raw: {} }];
  const painted = renderTerminal({ ...report, measurements }, true);
  assert.match(painted, /^\u001b\[31mof 9 .*NO: 10 % below the bar\u001b\[39m$/m);
  assert.match(painted, /^\u001b\[32mof 11 .*yes\u001b\[39m$/m);
  assert.equal(wantsColours({ isTTY: true }, {}), true);
  assert.equal(wantsColours({ isTTY: true }, { NO_COLOR: "1" }), false);
  assert.equal(wantsColours({}, {}), false);
});
