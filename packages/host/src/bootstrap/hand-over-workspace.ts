import { stat } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";
import type { Logger } from "@narthex/kernel";
import { adoptWorkspace } from "../sandbox/adopt-workspace.ts";
import { currentIdentity, type IdentityOptions } from "../sandbox/workspace-identity.ts";

/** Belong to the system, with all that is in them. */
const SYSTEM_TREES = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin"];
const MORE_SYSTEM_TREES = ["/sys", "/usr", "/var/cache", "/var/lib/dpkg", "/var/log", "/var/spool"];
/** Hold what belongs to many. */
const SHARED = ["/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var", "/var/lib", "/var/tmp"];

/**
 * Makes a workspace of root's one that tools can change: it and what is in it go to the user that sandboxes run as. One
 * that belongs to anybody else stays as it is. True if it was handed over.
 *
 * SECURITY: asked for by a person, once for each workspace. What the system rests on is never handed over, whoever asks.
 */
export async function handOverWorkspace(
  workspace: string,
  log: Logger | undefined,
  who: IdentityOptions = currentIdentity(),
): Promise<boolean> {
  const { uid } = await stat(workspace);
  if (uid !== 0) return false;
  const isSystem = [...SYSTEM_TREES, ...MORE_SYSTEM_TREES].some((tree) => `${workspace}/`.startsWith(`${tree}/`));
  if (isSystem || SHARED.includes(workspace)) {
    throw refused(workspace, "belongs to the system, and is not handed to a sandbox: name a project's directory");
  }
  if (who.uid !== 0) {
    throw refused(workspace, `belongs to root, and this kernel is not root: chown it to user ${who.uid}`);
  }
  const { adopted, left, leftPaths } = await adoptWorkspace(workspace, { uid: who.sandboxUid, gid: who.sandboxUid });
  if (left > 0) {
    const why = "files with several names, on another mount, or of another kind stay root's";
    log?.("warn", `a workspace was not adopted completely: ${why}`, { workspace, left, paths: leftPaths.join(", ") });
  }
  return adopted > 0;
}

function refused(workspace: string, why: string): KernelError {
  return new KernelError("WORKSPACE_REFUSED", `\`${workspace}\` ${why}`);
}
