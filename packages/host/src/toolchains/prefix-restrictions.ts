import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { HOME_PATH, SCRATCH_PATH, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { containsPath } from "./path-containment.ts";

/** Directories that restrict where a prefix may be. All are real paths. */
export interface PrefixRestrictions {
  readonly kernelHome: string;
  readonly workspace: string | undefined;
  /** Home directories of this system's users. */
  readonly homes: readonly string[];
}

/** Directories of the host's system, and those that the sandbox provides itself at the same paths. */
const SYSTEM = ["/etc", "/proc", "/sys", "/dev", "/run", "/boot", "/var/run", "/var/lib", "/snap"];
const INSIDE = [HOME_PATH, WORKSPACE_PATH, SCRATCH_PATH];
const WHOLE = ["/home", "/root", "/tmp", "/var", "/usr", "/opt", "/mnt", "/media", "/srv"];

/** Secret paths below a home. */
const SECRETS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".config/gcloud",
  ".config/gh",
  ".config/op",
  ".password-store",
  ".netrc",
  ".git-credentials",
  ".pypirc",
  ".npmrc",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".m2/settings.xml",
  ".local/share/keyrings",
  ".local/state/narthex",
];

/**
 * Returns why a path must not be mounted, judging by its location alone; undefined if there is no reason.
 *
 * SECURITY: programs inside can read everything in a mount. The user's PATH states which programs they want to run, not
 * which files they want to expose.
 */
export function findPlacementProblem(prefix: string, around: PrefixRestrictions): string | undefined {
  const own = [around.kernelHome, ...(around.workspace === undefined ? [] : [around.workspace])];
  const secrets = around.homes.flatMap((home) => SECRETS.map((name) => join(home, name)));
  const whole = ["/", ...own, ...around.homes, ...secrets, ...SYSTEM, ...INSIDE, ...WHOLE];
  if (whole.includes(prefix)) return `\`${prefix}\` is no toolchain`;
  const held = whole.find((path) => containsPath(prefix, path));
  if (held !== undefined) return `it holds \`${held}\``;
  const outer = [...own, ...secrets, ...SYSTEM].find((path) => containsPath(path, prefix));
  if (outer !== undefined) return `it lies in \`${outer}\``;
  const taken = INSIDE.find((path) => containsPath(path, prefix));
  return taken === undefined ? undefined : `inside, \`${taken}\` is the agent's own`;
}

/** Returns the homes in this system's user list, and the given one. */
export async function findHomes(userHome: string): Promise<string[]> {
  const users = await readFile("/etc/passwd", "utf8").catch(() => "");
  const homes = users.split("\n").map((line) => line.split(":")[5] ?? "");
  return [...new Set([userHome, "/root", ...homes])].filter((home) => home.startsWith("/") && home !== "/");
}
