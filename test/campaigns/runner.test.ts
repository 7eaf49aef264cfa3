import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { type CommandEnd, type CommandOptions, runCommand } from "../repository/run-command.ts";
import { createTemporaryTree } from "../repository/temporary-tree.ts";

const RUNNER = join(REPOSITORY, "campaigns/runner/run-campaigns.ts");

/** Campaigns that end in every way. */
const CAMPAIGNS = {
  "campaigns/campaign.ts": "export interface Campaign {}",
  "campaigns/passes/part.ts": "export const name = 'not a campaign';",
  "campaigns/passes.ts": campaignText(
    "passes",
    "return { done: round.count, facts: [['seed seen', round.seed], ['pipe', 'a|b']], failures: [] };",
  ),
  "campaigns/fails.ts": campaignText(
    "fails",
    "return { done: round.count, facts: [], failures: ['two of a kind\\nin two lines'] };",
  ),
  "campaigns/throws.ts": campaignText(
    "throws",
    "round.progress(3); throw new Error(`broke in ${import.meta.dirname}`);",
  ),
  "campaigns/stops-early.ts": campaignText("stops-early", "return { done: round.count - 1, facts: [], failures: [] };"),
  "campaigns/endless.ts": campaignText(
    "endless",
    `try {
      for (let done = 0; ; done++) {
        round.progress(done);
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      await writeFile(new URL("./put-away", import.meta.url), "");
    }`,
  ),
};

function campaignText(name: string, body: string): string {
  return `
    import { writeFile } from "node:fs/promises";
    export const campaign = {
      name: "${name}", title: "Does what it is told.", unit: "steps", sample: 1, full: 10,
      async run(round: { count: number; seed: number; progress(done: number): void }) { ${body} },
    };`;
}

interface Ran extends CommandEnd {
  /** Reports by campaign. */
  readonly reports: ReadonlyMap<string, string>;
  readonly root: string;
}

async function run(context: TestContext, words: readonly string[], options: CommandOptions = {}): Promise<Ran> {
  const root = createTemporaryTree(context, CAMPAIGNS);
  const folders = ["--campaigns", join(root, "campaigns"), "--reports", join(root, "reports")];
  const end = await runCommand(process.execPath, [RUNNER, ...words, ...folders], options);
  const files = existsSync(join(root, "reports")) ? readdirSync(join(root, "reports")) : [];
  const reports = files.map((file) => {
    assert.match(file, /^\d{4}-\d\d-\d\d-[a-z-]+\.md$/);
    return [file.slice(11, -3), readFileSync(join(root, "reports", file), "utf8")] as const;
  });
  return { ...end, reports: new Map(reports), root };
}

test("an unknown campaign is bad usage, and the known ones are named", async () => {
  const end = await runCommand(process.execPath, [join(REPOSITORY, "scripts/campaign.mjs"), "no-such", "frames"]);
  assert.equal(end.code, 2);
  assert.match(end.output, /no campaign is called `no-such`; there are: .*\bchain\b.*\bdecoder\b.*\bframes\b/);
  assert.match(end.output, /usage: npm run campaign/);
});

for (const [words, problem] of [
  [["passes", "--count", "0"], /--count takes a whole number from 1 to 1000000000, not `0`/],
  [["passes", "--count", "1e3"], /--count takes a whole number .* not `1e3`/],
  [["passes", "--count", "99999999999"], /--count takes a whole number/],
  [["passes", "--count"], /--count/],
  [["passes", "--seed", "-1"], /--seed/],
  [["passes", "--seed", "4294967296"], /--seed takes a whole number from 0 to 4294967295/],
  [["passes", "--fast"], /--fast/],
] as const) {
  test(`\`${words.join(" ")}\` is bad usage and runs nothing`, async (context) => {
    const { code, output, reports } = await run(context, words);
    assert.equal(code, 2);
    assert.match(output, problem);
    assert.match(output, /usage: npm run campaign/);
    assert.equal(reports.size, 0);
  });
}

test("a passing campaign is reported with the command that repeats it, and without names of the machine", async (context) => {
  const { code, output, reports, root } = await run(context, ["passes", "--count", "2500", "--seed", "77"]);
  assert.equal(code, 0, output);
  const report = reports.get("passes") ?? "";
  for (const part of [
    /^# Campaign: passes\n\nDoes what it is told\.\n/,
    /\| result \| passed \|/,
    /\| date \| \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \|/,
    /\| commit \| (?:[0-9a-f]{40} \((?:clean|with uncommitted changes)\)|unknown.*) \|/,
    new RegExp(`\\| machine \\| \\d+ cores, .*, Node ${process.versions.node}, Linux .* \\|`),
    /\| steps \| 2,500 of 2,500 \|/,
    /\| seconds \| \d+\.\d \(/,
    /\| repeat \| `npm run campaign -- passes --count 2500 --seed 77` \|/,
    /\| seed seen \| 77 \|\n\| pipe \| a\\\|b \|/,
    /## Failures\n\nNone\.\n$/,
  ]) {
    assert.match(report, part);
  }
  for (const place of [REPOSITORY.replace(/\/$/, ""), root, hostname()]) assert.ok(!report.includes(place), place);
});

test("without a seed one is drawn, printed and reported; without a count the campaign has its full size", async (context) => {
  const { output, reports } = await run(context, ["passes"]);
  const printed = /passes: Does what it is told\. \(10 steps, seed (\d+)\)/.exec(output)?.[1];
  assert.ok(printed !== undefined, output);
  assert.match(reports.get("passes") ?? "", new RegExp(`--count 10 --seed ${printed}\``));
});

test("a campaign that fails, throws or stops early fails the run; each is reported, and the others run", async (context) => {
  const { code, output, reports, root } = await run(context, ["throws", "fails", "stops-early", "passes"]);
  assert.equal(code, 1);
  assert.match(output, /failed: fails, stops-early, throws\n$/);
  assert.deepEqual([...reports.keys()].sort(), ["fails", "passes", "stops-early", "throws"]);
  assert.match(reports.get("fails") ?? "", /\| result \| FAILED \(1\) \|[^]*- two of a kind \/ in two lines\n$/);
  assert.match(
    reports.get("throws") ?? "",
    /\| steps \| 3 of 10 \|[^]*- the campaign broke off: Error: broke in TMP\//,
  );
  assert.ok(!(reports.get("throws") ?? "").includes(root));
  assert.match(reports.get("stops-early") ?? "", /- only 9 of 10 were done\n$/);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`${signal} lets the campaign clean up, and leaves no report`, async (context) => {
    const { code, output, reports, root } = await run(context, ["endless", "passes"], {
      onFirstOutput: (child) => child.kill(signal),
    });
    assert.equal(code, 130, output);
    assert.match(output, /interrupted: /);
    assert.ok(existsSync(join(root, "campaigns/put-away")));
    assert.equal(reports.size, 0);
    assert.ok(!existsSync(join(root, "reports")) || readdirSync(join(root, "reports")).length === 0);
  });
}

test("names a file that is not a campaign", async (context) => {
  const root = createTemporaryTree(context, { "campaigns/odd-one.ts": "export const other = 1;" });
  const end = await runCommand(process.execPath, [RUNNER, "--campaigns", join(root, "campaigns")]);
  assert.equal(end.code, 1);
  assert.match(end.output, /odd-one\.ts exports no campaign called `odd-one`/);
});
