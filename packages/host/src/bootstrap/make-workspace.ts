import { lchown, mkdtemp, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { currentIdentity } from "../sandbox/workspace-identity.ts";
import { makeDirectories } from "../system/make-directories.ts";
import { findTraverseProblem } from "../toolchains/path-access.ts";

export interface NewWorkspace {
  /** Directory in which the workspace is created if tools can reach it. */
  readonly parent: string;
  /** Directory used otherwise. By default `/var/tmp`, which every user can enter and which survives a reboot. */
  readonly fallbackParent?: string;
}

/** Creates an empty directory in which tools can work at once, whether this process runs as root or not. */
export async function makeWorkspace({ parent, fallbackParent = "/var/tmp" }: NewWorkspace): Promise<string> {
  const { uid, sandboxUid } = currentIdentity();
  const sandbox = { uid: sandboxUid, gid: sandboxUid };
  // If root creates it, other users may traverse the directory but not list it.
  await makeDirectories(parent, uid === 0 ? 0o711 : 0o700);
  if (uid !== 0) return await mkdtemp(join(parent, "first-"));
  const isReached = (await findTraverseProblem(await realpath(parent), sandbox)) === undefined;
  const made = await mkdtemp(isReached ? join(parent, "first-") : join(fallbackParent, "narthex-first-"));
  await lchown(made, sandbox.uid, sandbox.gid);
  return made;
}

/** Whether tools started by this process could change the contents of a directory. */
export async function isWritableByTools(workspace: string): Promise<boolean> {
  const found = await stat(workspace).catch(() => undefined);
  return found?.isDirectory() === true && (found.uid !== 0 || currentIdentity().uid !== 0);
}
