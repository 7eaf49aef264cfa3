import { createHash } from "node:crypto";
import { chmod, lchown, lstat, mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { SandboxIdentity } from "../sandbox/sandbox-plan.ts";
import { findTraverseProblem } from "./path-access.ts";

export interface CachePlace {
  /** Directory of all caches, in the kernel's home. */
  readonly directory: string;
  /** Used if programs inside cannot reach `directory`; below `/var/cache` by default. */
  readonly fallbackDirectory?: string;
  readonly workspace: string;
  readonly identity: SandboxIdentity;
}

/**
 * Opens the directory of one workspace's cache; creates it if it is missing.
 *
 * SECURITY: a cache belongs to the identity that programs of its workspace run as, and is closed to all other users.
 * The directory of all caches belongs to the kernel, and only the kernel can list or change it: no other program can
 * replace a cache with a link. Another identity never gets the same cache: its name contains the uid.
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
  // A kernel that was killed between mkdir and chown left a directory that still belongs to root.
  if (facts.isDirectory() && facts.uid === 0 && process.getuid?.() === 0) {
    await lchown(path, identity.uid, identity.gid);
  } else if (!facts.isDirectory() || facts.uid !== identity.uid) {
    throw new KernelError("SANDBOX_ERROR", `\`${path}\` is no cache of user ${identity.uid}: remove it`);
  }
  return path;
}

/** Returns the existing directories that can contain caches of this home. */
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
  // Only root runs programs as another user, who may be unable to enter the kernel's home.
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

/** Lets other users traverse the directory, but not list or change it. */
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
