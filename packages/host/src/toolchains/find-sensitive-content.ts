import { constants, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_SECRET_PATHS } from "../files/secret-paths.ts";

/** Number of entries that may still be examined. */
export interface ScanBudget {
  left: number;
}

const MAX_DEPTH = 3;
const MAX_KEY_BYTES = 64 * 1024;

/** Names that are secret in addition to the secret paths of a workspace. */
const SECRET_NAMES = [
  ".docker",
  ".git",
  ".password-store",
  "credentials",
  "credentials.toml",
  "application_default_credentials.json",
];
const SECRETS = [...DEFAULT_SECRET_PATHS, ...SECRET_NAMES].map(patternOf);
const MAY_BE_KEY = /\.(?:key|pem)$/i;

/** Directories of published packages, and of test keys that languages ship. */
const PUBLISHED = new Set(["node_modules", "site-packages", "dist-packages", "test", "tests", "testdata"]);

/**
 * Returns why a directory of programs or libraries must not be mounted: it contains a credential, a private key, a
 * repository or a socket, or too many entries to examine. Undefined if there is no reason.
 */
export async function findSensitiveContent(path: string, budget: ScanBudget): Promise<string | undefined> {
  if (!(await stat(path)).isDirectory()) return await refuseFile(path);
  return await refuseBelow(path, "", 1, budget);
}

async function refuseBelow(
  root: string,
  directory: string,
  depth: number,
  budget: ScanBudget,
): Promise<string | undefined> {
  // A directory that is not readable here is not readable inside either.
  const entries = await readdir(join(root, directory), { withFileTypes: true }).catch(() => []);
  budget.left -= entries.length;
  if (budget.left < 0) return `\`${root}\` holds more files than can be looked through for secrets`;
  const below: string[] = [];
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isSocket()) return `it holds a socket, \`${join(root, path)}\``;
    if (isSecret(path)) return holds(join(root, path));
    if (entry.isFile() && MAY_BE_KEY.test(entry.name) && (await isPrivateKey(join(root, path)))) {
      return holds(join(root, path));
    }
    if (entry.isDirectory() && depth < MAX_DEPTH && !PUBLISHED.has(entry.name)) below.push(path);
  }
  for (const path of below) {
    const refused = await refuseBelow(root, path, depth + 1, budget);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

async function refuseFile(path: string): Promise<string | undefined> {
  return isSecret(path) || (MAY_BE_KEY.test(path) && (await isPrivateKey(path))) ? holds(path) : undefined;
}

function isSecret(path: string): boolean {
  return SECRETS.some((pattern) => pattern.test(path));
}

function holds(path: string): string {
  return `it holds \`${path}\``;
}

/** Matches the end of a path, ignoring case. */
function patternOf(secret: string): RegExp {
  const text = secret.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*");
  return new RegExp(`(?:^|/)${text}$`, "i");
}

async function isPrivateKey(path: string): Promise<boolean> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_KEY_BYTES), 0, MAX_KEY_BYTES, 0);
    return buffer.toString("latin1", 0, bytesRead).includes("PRIVATE KEY-----");
  } catch {
    // Not readable for us, and so not for programs inside.
    return false;
  }
}
