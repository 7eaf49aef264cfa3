import { randomUUID } from "node:crypto";
import { chmod, lstat, readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import { pathUnusable } from "../content/system-error.ts";
import { makeDirectories } from "../system/make-directories.ts";
import { requireSafeParents } from "./safe-parents.ts";

const OTHERS_MAY_WRITE = 0o022;
const OTHERS_MAY_ANYTHING = 0o077;

/**
 * Makes a directory that only its owner can enter, or proves that it is one. Answers its real path.
 *
 * SECURITY: a directory that somebody else owns or can write to may already hold what they want us to read.
 */
export async function openPrivateDirectory(path: string): Promise<string> {
  await makeDirectories(path, 0o700).catch((cause: unknown) => {
    throw pathUnusable(`the home \`${path.slice(0, 300)}\` cannot be used`, cause);
  });
  const real = await realpath(path);
  await requireSafeParents(real);
  const facts = await lstat(real);
  if (!facts.isDirectory()) throw unsafe(real, "it is no directory", "name another one with --data DIR");
  const uid = process.getuid?.() ?? facts.uid;
  if (facts.uid !== uid) {
    throw unsafe(
      real,
      `it belongs to user ${facts.uid}, not to ${uid}`,
      "run as its owner, or name another one with --data DIR",
    );
  }
  if ((facts.mode & OTHERS_MAY_WRITE) !== 0) {
    throw unsafe(real, "others can write to it", `look at what is in it, then \`chmod 700 ${real}\``);
  }
  if ((facts.mode & OTHERS_MAY_ANYTHING) !== 0) await chmod(real, 0o700);
  return real;
}

/** Writes a file that only its owner can read; whoever reads it meanwhile sees the old text or the new one. */
export async function writePrivateFile(path: string, text: string | Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  } catch (fault) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw fault;
  }
}

const DRAFT = /\.\d+\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Removes what processes that were killed while they wrote a file have left. For whoever holds the home. */
export async function removeDrafts(directory: string): Promise<void> {
  const drafts = (await readdir(directory)).filter((name) => DRAFT.test(name));
  await Promise.all(drafts.map((name) => rm(join(directory, name), { force: true })));
}

function unsafe(path: string, why: string, fix: string): KernelError {
  return new KernelError("HOME_UNSAFE", `\`${path}\` cannot be a kernel's home: ${why}; ${fix}`);
}
