import { closeSync, constants, linkSync, openSync, renameSync, unlinkSync } from "node:fs";
import { errnoOf } from "./file-fault.ts";

/** File systems without hard links, or files that may not have another name. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * Gives a file or a link a new name, and takes the old one away. Throws EEXIST if the new name is taken: a second name
 * is made first, which the system refuses where one exists. `rename` would replace it without a word, and Node has no
 * `renameat2`. Without hard links the name is taken by an empty file that is then replaced. What is thrown has changed
 * nothing.
 */
export function linkExclusively(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (fault) {
    if (!NO_LINKS.has(errnoOf(fault))) throw fault;
    closeSync(openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600));
    try {
      renameSync(from, to);
    } catch (failure) {
      unlinkSync(to);
      throw failure;
    }
    return;
  }
  try {
    unlinkSync(from);
  } catch (fault) {
    unlinkSync(to);
    throw fault;
  }
}
