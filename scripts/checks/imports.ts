import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type CheckResult, failed, judge } from "./check.ts";
import { REPOSITORY, runTool } from "./run-tool.ts";

/** A checker that cannot read the sources finds nothing wrong with them, so it must have seen at least this much. */
const FEWEST_MODULES = 60;
const FOLDERS = ["packages", "test", "scripts", "bench", "campaigns", "examples"];

interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

interface Cruise {
  readonly sources: readonly string[];
  readonly violations: readonly Violation[];
}

/** Holds the tree at `root` against `.dependency-cruiser.mjs`. */
export async function checkImports(root = REPOSITORY, fewestModules = FEWEST_MODULES): Promise<CheckResult> {
  const configuration = join(REPOSITORY, ".dependency-cruiser.mjs");
  const folders = FOLDERS.filter((folder) => existsSync(join(root, folder)));
  const { output } = await runTool(
    "dependency-cruiser/bin/dependency-cruiser.mjs",
    ["--config", configuration, "--output-type", "json", ...folders],
    root,
  );
  const cruise = parseCruise(output);
  if (cruise === undefined) return failed(output);

  const problems = cruise.violations.map(({ rule, from, to }) => `${from}: ${rule}: ${to}`);
  const seen = cruise.sources.filter((source) => source.startsWith("packages/"));
  if (seen.length < fewestModules)
    problems.push(`looked at ${seen.length} modules, expected at least ${fewestModules}`);
  const packages = readdirSync(join(root, "packages"));
  for (const name of packages) {
    if (!seen.some((source) => source.startsWith(`packages/${name}/src/`)))
      problems.push(`saw nothing of packages/${name}`);
  }
  return judge(problems, `${seen.length} modules in ${packages.length} packages`);
}

function parseCruise(text: string): Cruise | undefined {
  const report: unknown = parseJson(text);
  if (!isObject(report) || !Array.isArray(report["modules"]) || !isObject(report["summary"])) return undefined;
  const { violations } = report["summary"];
  if (!Array.isArray(violations)) return undefined;
  return {
    sources: report["modules"].filter(isObject).map((module) => String(module["source"])),
    violations: violations.filter(isObject).map((violation) => ({
      rule: isObject(violation["rule"]) ? String(violation["rule"]["name"]) : "",
      from: String(violation["from"]),
      to: String(violation["to"]),
    })),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
