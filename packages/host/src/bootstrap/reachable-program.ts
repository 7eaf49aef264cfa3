import { createHash } from "node:crypto";
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, rename, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { SandboxIdentity } from "../sandbox/sandbox-plan.ts";
import { findReadProblem } from "../toolchains/path-access.ts";
import { removeOwnTree } from "../system/remove-own-tree.ts";

const DIRECTORY = "/var/cache/narthex/programs";
const known = new Map<string, Promise<string>>();

/**
 * Returns a path at which a sandbox with this identity can read one of the kernel's own programs: the program itself,
 * or a copy if other users cannot read its directory (such as `/root`).
 *
 * SECURITY: only root runs programs as another user. The copies and all their parent directories belong to root, so no
 * other user can replace the program.
 */
export function reachableProgram(path: string, identity: SandboxIdentity, directory = DIRECTORY): Promise<string> {
  if (process.getuid?.() !== 0) return Promise.resolve(path);
  const key = `${identity.uid}:${identity.gid}:${directory}:${path}`;
  const finding = known.get(key) ?? find(path, identity, directory);
  known.set(key, finding);
  finding.catch(() => known.delete(key));
  return finding;
}

async function find(path: string, identity: SandboxIdentity, directory: string): Promise<string> {
  if ((await findReadProblem(path, identity)) === undefined) return path;
  const to = join(directory, await nameOf(path), basename(path));
  if (!(await isThere(to))) await copyProgram(path, to, directory);
  await verifyOwnedByRoot(dirname(to), directory);
  const closed = await findReadProblem(to, identity);
  if (closed === undefined) return to;
  throw new KernelError("SANDBOX_UNAVAILABLE", `\`${path}\` cannot be read inside, and neither can a copy: ${closed}`);
}

async function copyProgram(path: string, to: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  await verifyOwnedByRoot(directory, directory);
  const made = await mkdtemp(join(directory, "new-"));
  try {
    await cp(path, join(made, basename(path)), { recursive: true });
    await makeWorldReadable(made);
    await rename(made, dirname(to)).catch(async (fault: unknown) => {
      // Another kernel made the copy first.
      if (!(await isThere(to))) throw fault;
    });
  } finally {
    removeOwnTree(made);
  }
}

/** Makes files readable and executable for everyone, and writable for root alone. */
async function makeWorldReadable(path: string): Promise<void> {
  const facts = await lstat(path);
  // The mode of a link cannot be changed, and its target must not be.
  if (facts.isSymbolicLink()) return;
  await chmod(path, 0o755);
  if (facts.isDirectory()) for (const name of await readdir(path)) await makeWorldReadable(join(path, name));
}

async function verifyOwnedByRoot(path: string, directory: string): Promise<void> {
  for (const each of new Set([dirname(directory), directory, path])) {
    const { uid, mode } = await lstat(each);
    if (uid !== 0 || (mode & 0o022) !== 0) throw new KernelError("SANDBOX_ERROR", `\`${each}\` is not root's alone`);
  }
}

/** Derives a name that differs for each version of the program. */
async function nameOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path);
  return createHash("sha256").update(`${path}\0${ino}\0${size}\0${mtimeMs}`).digest("hex").slice(0, 32);
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
