import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { KernelError } from "@narthex/contracts";

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;
/** Uid that the system shows for owners that are not mapped in a user namespace. */
const UNMAPPED = 65_534;

/**
 * Throws HOME_UNSAFE if another user could replace a path that this kernel uses. Checked only for a kernel that runs as
 * root: any other kernel has no more rights than its user, who created the parent directories.
 *
 * SECURITY: a user who can write a directory can rename its entries, even root's, and put a link in their place: that
 * user then controls what root writes, removes and trusts below that path. A sticky directory prevents this. Tested by
 * "a home of root's below a directory of another user is refused".
 */
export async function requireSafeParents(path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  for (let directory = await realpath(dirname(path)); ; directory = dirname(directory)) {
    const { uid, mode } = await lstat(directory);
    const isShared = (mode & OTHERS_MAY_WRITE) !== 0 && (mode & STICKY) === 0;
    const isOthers = uid !== 0 && !(uid === UNMAPPED && (await isRootOfNamespace()));
    if (isOthers || isShared) {
      const why = isOthers ? `belongs to user ${uid}` : "can be written by others";
      const message = `\`${path}\` is not safe for a kernel of root's: \`${directory}\` ${why}, who could exchange it`;
      throw new KernelError("HOME_UNSAFE", `${message}; run as that user, or name a directory that is root's`);
    }
    if (directory === dirname(directory)) return;
  }
}

/** Whether this is only root of a user namespace: the host's root, who owns `/`, is not mapped there. */
async function isRootOfNamespace(): Promise<boolean> {
  const map = await readFile("/proc/self/uid_map", "latin1").catch(() => "");
  return !/^\s*0\s+0\s+4294967295\s*$/.test(map);
}
