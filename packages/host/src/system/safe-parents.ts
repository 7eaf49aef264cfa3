import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { KernelError } from "@narthex/contracts";

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;
/** What the system shows for owners that have no number in a user namespace. */
const UNMAPPED = 65_534;

/**
 * Throws HOME_UNSAFE if another user could exchange a path of this kernel's for something else. Asked where the kernel is
 * root: another kernel can do no more than its user, who made the directories above it.
 *
 * SECURITY: a user who can write a directory can rename what lies in it, root's files too, and put a link there: that
 * user then chooses what root writes, removes and believes below that path. A sticky directory does not allow it.
 * Tested by "a home of root's below a directory of another user is refused".
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

/** Root of a user namespace only: the machine's own root, who owns `/`, has no number there. */
async function isRootOfNamespace(): Promise<boolean> {
  const map = await readFile("/proc/self/uid_map", "latin1").catch(() => "");
  return !/^\s*0\s+0\s+4294967295\s*$/.test(map);
}
