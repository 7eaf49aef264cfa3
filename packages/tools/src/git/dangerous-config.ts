import { readConfigEntries } from "./config-entries.ts";
import { CONFIG_RULES, type ConfigRemedy } from "./config-rules.ts";
import { GIT_OPERATION_FACTS, type GitOperationName } from "./git-operations.ts";

/** One key of the effective configuration that could make git run a program or contact a host. */
export interface ConfigFinding {
  readonly key: string;
  /** Where the key is set, in git's notation: `file:.git/config`. */
  readonly origin: string;
  readonly remedy: ConfigRemedy;
  readonly why: string;
}

export interface DangerousConfig {
  readonly findings: readonly ConfigFinding[];
  /** Options of git, between the prefix and the operation. */
  readonly argv: readonly string[];
  /** Environment variables from which some of these options read their values. */
  readonly environment: Readonly<Record<string, string>>;
  /** Why the operation must not run; empty if it may. */
  readonly refusals: readonly string[];
}

/** Arguments that list the configuration; they follow the prefix of the operation. */
export const CONFIG_LISTING = ["config", "--list", "--null", "--show-origin", "--includes"] as const;

/** The same for the repository's own file only, to find out what an operation has changed. */
export const OWN_CONFIG_LISTING = ["config", "--local", "--no-includes", "--list", "--null", "--show-origin"] as const;

/** Maximum number of overridden keys; each one is an argument. */
export const MAX_OVERRIDES = 512;

const SHOWN_CHARACTERS = 120;

/**
 * Parses the output of `CONFIG_LISTING`, taken in the directory of the operation, and decides how each dangerous key is
 * made harmless. The listing of `.gitmodules` may follow: `git config --file .gitmodules --list --null --show-origin`.
 * `variables` is the prefix of the environment variables' names.
 * SECURITY: names inside keys are controlled by an attacker. They are passed to git byte for byte, or the operation is
 * refused.
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

/** The key of the variable `name` in the same section; the key itself for an empty name. */
function siblingKey(key: string, name: string): string {
  return name === "" ? key : `${key.slice(0, key.lastIndexOf(".") + 1)}${name}`;
}

/**
 * Converts settings to options of git. `-c` ends the key at the first equals sign, `--config-env` at the last, so a key
 * that contains one can only be set with the second.
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
