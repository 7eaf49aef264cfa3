import { constants, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_SECRET_PATHS } from "../files/secret-paths.ts";

/** How many entries may still be looked at. */
export interface ScanBudget {
  left: number;
}

const MAX_DEPTH = 3;
const MAX_KEY_BYTES = 64 * 1024;

/** Besides the paths that are secret in a workspace. */
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

/** Packages of a registry, and keys that a language's own tests are made with. */
const PUBLISHED = new Set(["node_modules", "site-packages", "dist-packages", "test", "tests", "testdata"]);

/**
 * Why a directory of programs or libraries is not mounted: a credential, a private key, a repository or a socket in it,
 * or more entries than can be looked through. Undefined if nothing speaks against it.
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
  // A directory that cannot be read here can be read inside by no one either.
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

/** At the end of a path, in whatever case. */
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
    // Closed to us, and so to programs inside.
    return false;
  }
}
