import { closeSync, constants, linkSync, openSync, renameSync, unlinkSync } from "node:fs";
import { errnoOf } from "./file-fault.ts";

/** Errors of file systems without hard links, or for files that cannot have another link. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * Renames a file or a link. Throws EEXIST if the new name exists: it creates a hard link, which the system refuses in
 * that case, then removes the old name. `rename` would silently replace the target, and Node does not offer
 * `renameat2`. Without hard links, the name is reserved by an empty file that is then replaced. If it throws, nothing
 * was changed.
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
