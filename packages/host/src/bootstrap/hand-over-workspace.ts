import { stat } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";
import type { Logger } from "@narthex/kernel";
import { adoptWorkspace } from "../sandbox/adopt-workspace.ts";
import { currentIdentity, type IdentityOptions } from "../sandbox/workspace-identity.ts";

/** Directories that belong to the system, with everything below them. */
const SYSTEM_TREES = ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin"];
const MORE_SYSTEM_TREES = ["/sys", "/usr", "/var/cache", "/var/lib/dpkg", "/var/log", "/var/spool"];
/** Directories that are shared by many users. Directories below them may be handed over. */
const SHARED = ["/home", "/media", "/mnt", "/opt", "/root", "/srv", "/tmp", "/var", "/var/lib", "/var/tmp"];

/**
 * Makes a workspace that root owns writable for tools: changes the owner of the directory and its contents to the user
 * that sandboxes run as. A workspace of any other user stays as it is. Returns true if anything was handed over.
 *
 * SECURITY: a person requests this, once for each workspace. System directories are never handed over, regardless of
 * the caller.
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
