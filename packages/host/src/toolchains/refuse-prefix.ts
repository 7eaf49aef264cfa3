import { opendir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { HOME_PATH, SCRATCH_PATH, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { containsPath } from "./path-containment.ts";

/** What a prefix must keep away from. All without links. */
export interface PrefixSurroundings {
  readonly kernelHome: string;
  readonly workspace: string | undefined;
  /** Of this system's users. */
  readonly homes: readonly string[];
}

/** The system's own, and what the sandbox has of its own at the same paths. */
const SYSTEM = ["/etc", "/proc", "/sys", "/dev", "/run", "/boot", "/var/run", "/var/lib", "/snap"];
const INSIDE = [HOME_PATH, WORKSPACE_PATH, SCRATCH_PATH];
const WHOLE = ["/home", "/root", "/tmp", "/var", "/usr", "/opt", "/mnt", "/media", "/srv"];

/** Below a home. */
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

/** Wherever they lie. */
const SECRET_NAMES = new Set([
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".netrc",
  ".git-credentials",
  ".pgpass",
  ".password-store",
  "credentials",
  "credentials.toml",
  "application_default_credentials.json",
  "id_rsa",
  "id_ecdsa",
  "id_ed25519",
]);

const MAX_DEPTH = 3;
const MAX_SECRET_DEPTH = 2;
const MAX_ENTRIES = 2000;

/**
 * Why a prefix is not mounted whoever asks; undefined if nothing speaks against it.
 *
 * SECURITY: everything in a prefix can be read by programs inside. The user's PATH says what they want to run, not what
 * they want to show: a directory that holds more than programs is refused, also where it merely looks so.
 */
export async function refusePrefix(prefix: string, around: PrefixSurroundings): Promise<string | undefined> {
  return refusePlace(prefix, around) ?? (await refuseContent(prefix, 1, { left: MAX_ENTRIES }));
}

/** The same by the path alone. */
export function refusePlace(prefix: string, around: PrefixSurroundings): string | undefined {
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

/** The homes that this system's list of users names, and the given one. */
export async function findHomes(userHome: string): Promise<string[]> {
  const users = await readFile("/etc/passwd", "utf8").catch(() => "");
  const homes = users.split("\n").map((line) => line.split(":")[5] ?? "");
  return [...new Set([userHome, "/root", ...homes])].filter((home) => home.startsWith("/") && home !== "/");
}

async function refuseContent(directory: string, depth: number, budget: { left: number }): Promise<string | undefined> {
  const opened = await opendir(directory).catch(() => undefined);
  if (opened === undefined) return undefined;
  const below: string[] = [];
  for await (const entry of opened) {
    if (budget.left-- <= 0) break;
    const path = join(directory, entry.name);
    if (entry.isSocket()) return `it holds a socket, \`${path}\``;
    if (depth <= MAX_SECRET_DEPTH && SECRET_NAMES.has(entry.name)) return `it holds \`${path}\``;
    if (entry.isDirectory() && depth < MAX_DEPTH) below.push(path);
  }
  for (const path of below) {
    const refused = await refuseContent(path, depth + 1, budget);
    if (refused !== undefined) return refused;
  }
  return undefined;
}
