import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Campaign, CampaignRound } from "./campaign.ts";
import { Chance } from "./chance/chance.ts";
import { Findings } from "./chance/findings.ts";
import { generateModule } from "./wasm/generate-module.ts";
import type { ModuleRun, RunMode } from "./wasm/module-run.ts";

const PROGRAM = fileURLToPath(new URL("./wasm/run-modules.ts", import.meta.url));
const BATCH = 200;
const MOST_OUTPUT_BYTES = 256 * 1024 * 1024;

/** V8's compilers, alone and one after the other. */
const TIERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["the baseline compiler alone", ["--liftoff-only"]],
  ["the optimising compiler alone", ["--no-liftoff"]],
  ["both, the second very soon", ["--wasm-tiering-budget=100"]],
  ["both, as V8 chooses", []],
]);

export const wasmMeter: Campaign = {
  name: "wasm-meter",
  title:
    "Modules made at random: metered they do what they do unmetered, use the same fuel in every tier of V8, and end exactly where it ends.",
  unit: "modules",
  sample: 12,
  full: 10_000,
  async run(round) {
    const findings = new Findings();
    const directory = await mkdtemp(join(tmpdir(), "narthex-wasm-campaign-"));
    try {
      for (let first = 0; first < round.count; first += BATCH) {
        await runBatch(round, first, join(directory, String(first)), findings);
        round.progress(Math.min(round.count, first + BATCH));
      }
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
    return findings.outcome(round.count);
  },
};

async function runBatch(
  { seed, count }: CampaignRound,
  first: number,
  directory: string,
  findings: Findings,
): Promise<void> {
  await mkdir(directory);
  const numbers = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => first + index);
  const queue = [...numbers];
  const lane = async () => {
    for (let number = queue.shift(); number !== undefined; number = queue.shift())
      await generateModule(new Chance(seed, number), join(directory, String(number)));
  };
  await Promise.all([lane(), lane()]);
  const plain = await runAll(directory, "plain", []);
  const [reference, ...others] = await Promise.all(
    [...TIERS].map(async ([tier, flags]) => ({ tier, runs: await runAll(directory, "metered", flags) })),
  );
  for (const [file, run] of reference?.runs ?? []) {
    const fail = (what: string) => findings.fail(`module ${file}: ${what}`);
    if (run.left !== undefined) {
      findings.count(`not run: ${run.left}`);
      continue;
    }
    findings.count("calls", run.calls.length);
    findings.count(
      "calls that trapped",
      run.calls.filter((text) => /out of|unreachable|divide|invalid|null function/.test(text)).length,
    );
    if (run.boundary !== undefined) fail(`the boundary of fuel is not exact: ${run.boundary}`);
    for (const { tier, runs } of others) {
      const difference = firstDifference(run, runs.get(file), ["calls", "fuel", "log", "memory"]);
      if (difference !== undefined) fail(`with ${tier}: ${difference}`);
    }
    const difference = firstDifference(plain.get(file), run, ["calls", "log", "memory"]);
    const isExact = file.endsWith(".exact.wasm");
    if (difference !== undefined && isExact) fail(`metered: ${difference}`);
    if (isExact) findings.count("compared with the plain module");
    else
      findings.count(
        difference === undefined
          ? "with NaNs, and like the plain module"
          : "with NaNs, and other bits than the plain module",
      );
  }
  await rm(directory, { recursive: true });
}

async function runAll(directory: string, mode: RunMode, flags: readonly string[]): Promise<Map<string, ModuleRun>> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, PROGRAM, directory, mode], {
    maxBuffer: MOST_OUTPUT_BYTES,
  });
  return new Map((JSON.parse(stdout) as ModuleRun[]).map((run) => [run.file, run]));
}

function firstDifference(
  left: ModuleRun | undefined,
  right: ModuleRun | undefined,
  parts: readonly ("calls" | "fuel" | "log" | "memory")[],
): string | undefined {
  for (const part of parts) {
    const [one, other] = [left?.[part], right?.[part]];
    if (JSON.stringify(one) === JSON.stringify(other)) continue;
    if (typeof one === "string" || one === undefined || typeof other === "string" || other === undefined)
      return `another ${part}`;
    const index = one.findIndex((value, at) => value !== other[at]);
    return `${part}: \`${one[index] ?? "nothing"}\` became \`${other[index] ?? "nothing"}\``;
  }
  return undefined;
}
