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

/** Largest listing that is read. */
export const MAX_LISTING_BYTES = 1024 * 1024;
/** Most keys that are overridden: each is an argument. */
export const MAX_OVERRIDES = 512;

const SHOWN_CHARACTERS = 120;

/**
 * Reads what `CONFIG_LISTING` wrote, in the directory of the operation, and says how each dangerous key is made harmless.
 * The listing of `.gitmodules` may follow: `git config --file .gitmodules --list --null --show-origin`.
 * SECURITY: names inside keys are an attacker's. They go back to git as bytes for bytes the same or the operation is refused.
 */
export function dangerousConfig(listing: Uint8Array, operation: GitOperationName): DangerousConfig {
  if (listing.length > MAX_LISTING_BYTES) return refused(`configuration of more than ${MAX_LISTING_BYTES} bytes`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(listing);
  } catch {
    return refused("configuration that is not UTF-8");
  }
  const fields = text.split("\0");
  // Each entry is an origin and a key, and the last ends with a NUL too.
  if (fields.pop() !== "" || fields.length % 2 !== 0) return refused("configuration that could not be listed");
  const findings: ConfigFinding[] = [];
  const refusals: string[] = [];
  const overrides = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) {
    const origin = fields[at] ?? "";
    const [key = ""] = (fields[at + 1] ?? "").split("\n", 1);
    if (origin === "command line:") continue;
    const rule = CONFIG_RULES.find((candidate) => candidate.key.test(key));
    if (rule === undefined) continue;
    const remedy = typeof rule.remedy === "function" ? rule.remedy(GIT_OPERATION_FACTS[operation]) : rule.remedy;
    findings.push({ key, origin, remedy, why: rule.why });
    if (remedy === "refuse") refusals.push(`\`${key.slice(0, SHOWN_CHARACTERS)}\` ${rule.why}`);
    if (remedy === "override")
      for (const [name, value] of Object.entries(rule.set ?? {})) overrides.set(beside(key, name), value);
  }
  if (overrides.size > MAX_OVERRIDES) return refused(`more than ${MAX_OVERRIDES} settings to override`);
  return { findings, refusals, ...overrideOptions(overrides) };
}

/** The variable of that name below the same section and name; the key itself for the empty one. */
function beside(key: string, name: string): string {
  return name === "" ? key : `${key.slice(0, key.lastIndexOf(".") + 1)}${name}`;
}

/**
 * `-c` ends the key at the first equals sign, `--config-env` at the last: a key with one in it can only be given by the
 * second.
 */
function overrideOptions(overrides: ReadonlyMap<string, string>): Pick<DangerousConfig, "argv" | "environment"> {
  const argv: string[] = [];
  const environment: Record<string, string> = {};
  for (const [key, value] of overrides) {
    if (!key.includes("=")) argv.push("-c", `${key}=${value}`);
    else {
      const variable = `NARTHEX_GIT_${Object.keys(environment).length}`;
      environment[variable] = value;
      argv.push(`--config-env=${key}=${variable}`);
    }
  }
  return { argv, environment };
}

function refused(reason: string): DangerousConfig {
  return { findings: [], argv: [], environment: {}, refusals: [reason] };
}
