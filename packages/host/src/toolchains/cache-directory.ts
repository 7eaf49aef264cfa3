import { createHash } from "node:crypto";
import { chmod, lchown, lstat, mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { SandboxIdentity } from "../sandbox/sandbox-plan.ts";
import { findTraverseProblem } from "./path-access.ts";

export interface CachePlace {
  /** Where caches are kept: in the kernel's home. */
  readonly directory: string;
  /** Where they are kept if programs inside cannot reach that one. By default below `/var/cache`. */
  readonly fallbackDirectory?: string;
  readonly workspace: string;
  readonly identity: SandboxIdentity;
}

/**
 * The directory of one workspace's cache, made if it is not there.
 *
 * SECURITY: a cache belongs to the identity that programs of its workspace run as, and is closed to everyone else. The
 * directory of all caches belongs to the kernel and can be listed by nobody else: no other program can put a link in the
 * place of a cache. A cache that was somebody else's is not handed on; it is made under another name.
 */
export async function openCacheDirectory(place: CachePlace): Promise<string> {
  const { identity } = place;
  const parent = await openParent(place);
  const path = join(parent, `${nameOf(await realpath(place.workspace))}-${identity.uid}`);
  await mkdir(path, { mode: 0o700 }).then(
    () => (process.getuid?.() === 0 ? lchown(path, identity.uid, identity.gid) : undefined),
    (fault: unknown) => {
      if (!(fault instanceof Error && "code" in fault && fault.code === "EEXIST")) throw fault;
    },
  );
  const facts = await lstat(path);
  // A kernel that was killed between the two steps left one that is still its own.
  if (facts.isDirectory() && facts.uid === 0 && process.getuid?.() === 0) {
    await lchown(path, identity.uid, identity.gid);
  } else if (!facts.isDirectory() || facts.uid !== identity.uid) {
    throw new KernelError("SANDBOX_ERROR", `\`${path}\` is no cache of user ${identity.uid}: remove it`);
  }
  return path;
}

/** Directories that can hold caches of this home, as far as they exist. */
export async function findCacheParents(directory: string): Promise<readonly string[]> {
  const own = await realpath(directory).catch(() => undefined);
  if (own === undefined) return [];
  if (process.getuid?.() !== 0) return [own];
  const other = await realpath(otherParent(own)).catch(() => undefined);
  return other === undefined ? [own] : [own, other];
}

function otherParent(own: string): string {
  return join("/var/cache/narthex", nameOf(own));
}

async function openParent({ directory, fallbackDirectory, identity }: CachePlace): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const own = await realpath(directory);
  // Only root runs programs as somebody else, and so can have a home that they cannot enter.
  if (process.getuid?.() === identity.uid) return own;
  await allowTraversal(own);
  if ((await findTraverseProblem(own, identity)) === undefined) return own;
  const other = fallbackDirectory ?? otherParent(own);
  await mkdir(other, { recursive: true, mode: 0o711 });
  const real = await realpath(other);
  await allowTraversal(real);
  const reason = await findTraverseProblem(real, identity);
  if (reason === undefined) return real;
  throw new KernelError("SANDBOX_ERROR", `there is no place for a cache: ${reason}`);
}

/** Others may go through it, and neither list nor change it. */
async function allowTraversal(directory: string): Promise<void> {
  const { uid } = await lstat(directory);
  if (uid !== process.getuid?.()) {
    throw new KernelError("SANDBOX_ERROR", `\`${directory}\` belongs to user ${uid}: remove it`);
  }
  await chmod(directory, 0o711);
}

function nameOf(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, NAME_CHARACTERS);
}

const NAME_CHARACTERS = 32;
