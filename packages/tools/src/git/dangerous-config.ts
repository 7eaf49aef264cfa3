import { readConfigEntries } from "./config-entries.ts";
import { CONFIG_RULES, type ConfigRemedy } from "./config-rules.ts";
import { GIT_OPERATION_FACTS, type GitOperationName } from "./git-operations.ts";

/** One key of the effective configuration that could make git run or reach something. */
export interface ConfigFinding {
  readonly key: string;
  /** Where it stands, as git says it: `file:.git/config`. */
  readonly origin: string;
  readonly remedy: ConfigRemedy;
  readonly why: string;
}

export interface DangerousConfig {
  readonly findings: readonly ConfigFinding[];
  /** Options of git, to stand after the prefix and before the operation. */
  readonly argv: readonly string[];
  /** Variables that some of these options read their values from. */
  readonly environment: Readonly<Record<string, string>>;
  /** Why the operation must not run; empty if it may. */
  readonly refusals: readonly string[];
}

/** What lists the configuration; it stands after the prefix of the operation. */
export const CONFIG_LISTING = ["config", "--list", "--null", "--show-origin", "--includes"] as const;

/** The same of the repository's own file alone: what an operation may have written. */
export const OWN_CONFIG_LISTING = ["config", "--local", "--no-includes", "--list", "--null", "--show-origin"] as const;

/** Most keys that are overridden: each is an argument. */
export const MAX_OVERRIDES = 512;

const SHOWN_CHARACTERS = 120;

/**
 * Reads what `CONFIG_LISTING` wrote, in the directory of the operation, and says how each dangerous key is made harmless.
 * The listing of `.gitmodules` may follow: `git config --file .gitmodules --list --null --show-origin`. `variables` begins
 * the names of the environment's variables that are used.
 * SECURITY: names inside keys are an attacker's. They go back to git as bytes for bytes the same or the operation is refused.
 */
export function dangerousConfig(listing: Uint8Array, operation: GitOperationName, variables?: string): DangerousConfig {
  const entries = readConfigEntries(listing);
  if ("problem" in entries) return refused(entries.problem);
  const findings: ConfigFinding[] = [];
  const refusals: string[] = [];
  const overrides = new Map<string, string>();
  for (const { origin, key } of entries) {
    if (origin === "command line:") continue;
    const rule = CONFIG_RULES.find((candidate) => candidate.key.test(key));
    if (rule === undefined) continue;
    const remedy = typeof rule.remedy === "function" ? rule.remedy(GIT_OPERATION_FACTS[operation]) : rule.remedy;
    findings.push({ key, origin, remedy, why: rule.why });
    if (remedy === "refuse") refusals.push(`\`${key.slice(0, SHOWN_CHARACTERS)}\` ${rule.why}`);
    if (remedy === "override")
      for (const [name, value] of Object.entries(rule.set ?? {})) overrides.set(siblingKey(key, name), value);
  }
  if (overrides.size > MAX_OVERRIDES) return refused(`more than ${MAX_OVERRIDES} settings to override`);
  return { findings, refusals, ...configOptions(overrides, variables) };
}

/** The variable of that name below the same section and name; the key itself for the empty one. */
function siblingKey(key: string, name: string): string {
  return name === "" ? key : `${key.slice(0, key.lastIndexOf(".") + 1)}${name}`;
}

/**
 * Settings as options of git. `-c` ends the key at the first equals sign, `--config-env` at the last: a key with one in
 * it can only be given by the second.
 */
export function configOptions(
  settings: ReadonlyMap<string, string>,
  variables = "NARTHEX_GIT",
): Pick<DangerousConfig, "argv" | "environment"> {
  const argv: string[] = [];
  const environment: Record<string, string> = {};
  for (const [key, value] of settings) {
    if (!key.includes("=")) argv.push("-c", `${key}=${value}`);
    else {
      const variable = `${variables}_${Object.keys(environment).length}`;
      environment[variable] = value;
      argv.push(`--config-env=${key}=${variable}`);
    }
  }
  return { argv, environment };
}

function refused(reason: string): DangerousConfig {
  return { findings: [], argv: [], environment: {}, refusals: [reason] };
}
