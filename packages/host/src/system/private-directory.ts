import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { KernelError } from "@narthex/contracts";
import { makeDirectories } from "./make-directories.ts";
import { requireSafeParents } from "./safe-parents.ts";
import { syncDirectory } from "./sync-directory.ts";
import { pathUnusable, systemErrorCode } from "./system-error.ts";

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const OTHERS_MAY_WRITE = 0o022;
const OTHERS_MAY_ANYTHING = 0o077;
const NOT_A_DIRECTORY = new Set(["ENOTDIR", "ELOOP"]);

/**
 * Creates a directory that only its owner can enter, durably, or verifies an existing one. Returns its real path.
 * `name` describes it in messages.
 *
 * SECURITY: another user who owns the directory, can write to it, or can replace it with a link would choose what the
 * kernel reads, writes and removes. A directory that others could only read is made private. The checks and the change
 * of mode use one descriptor. Tested by private-directory.test.ts.
 */
export async function openPrivateDirectory(path: string, name = "directory"): Promise<string> {
  const unusable = (cause: unknown): never => {
    throw pathUnusable(`the ${name} \`${path.slice(0, 300)}\` cannot be used`, cause);
  };
  await createDurably(path).catch(async (cause: unknown) => {
    // An existing entry is checked below; here it fails only if none exists.
    if (!(await isThere(path))) unusable(cause);
  });
  const directory = await open(path, DIRECTORY_FLAGS).catch((cause: unknown) => {
    if (!NOT_A_DIRECTORY.has(systemErrorCode(cause) ?? "")) return unusable(cause);
    throw unsafe(path, "is not a directory, or only a link to one", "remove it, or use another directory", cause);
  });
  try {
    const { mode, uid } = await directory.stat();
    const own = process.getuid?.() ?? uid;
    if (uid !== own) {
      throw unsafe(path, `belongs to user ${uid}, not to ${own}`, "run as its owner, or use another directory");
    }
    if ((mode & OTHERS_MAY_WRITE) !== 0) {
      throw unsafe(path, "can be written by other users", `check its content, then run \`chmod 700 ${path}\``);
    }
    if ((mode & OTHERS_MAY_ANYTHING) !== 0) await directory.chmod(0o700);
  } finally {
    await directory.close();
  }
  const real = await realpath(path);
  await requireSafeParents(real);
  return real;
}

/** Opens a home that the user named. It may be a link: its target is verified. */
export async function openNamedDirectory(path: string): Promise<string> {
  return await openPrivateDirectory(await realpath(path).catch(() => path), "home");
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function createDurably(path: string): Promise<void> {
  const first = await makeDirectories(path, 0o700);
  if (first === undefined) return;
  for (let created = path; created.length >= first.length; created = dirname(created)) {
    await syncDirectory(dirname(created));
  }
}

function unsafe(path: string, problem: string, fix: string, cause?: unknown): KernelError {
  return new KernelError("HOME_UNSAFE", `\`${path.slice(0, 300)}\` ${problem}; ${fix}`, { cause });
}
