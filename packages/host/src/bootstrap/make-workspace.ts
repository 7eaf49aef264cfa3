import { lchown, mkdtemp, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { currentIdentity } from "../sandbox/workspace-identity.ts";
import { makeDirectories } from "../system/make-directories.ts";
import { findTraverseProblem } from "../toolchains/path-access.ts";

export interface NewWorkspace {
  /** Where it is made, if tools can get there. */
  readonly parent: string;
  /** Where it is made otherwise. By default `/var/tmp`, which everyone can enter and which outlives a restart. */
  readonly fallbackParent?: string;
}

/** Makes an empty directory that tools can work in at once, whoever this process is. */
export async function makeWorkspace({ parent, fallbackParent = "/var/tmp" }: NewWorkspace): Promise<string> {
  const { uid, sandboxUid } = currentIdentity();
  const sandbox = { uid: sandboxUid, gid: sandboxUid };
  // Others may go through it, and not list it.
  await makeDirectories(parent, uid === 0 ? 0o711 : 0o700);
  if (uid !== 0) return await mkdtemp(join(parent, "first-"));
  const isReached = (await findTraverseProblem(await realpath(parent), sandbox)) === undefined;
  const made = await mkdtemp(isReached ? join(parent, "first-") : join(fallbackParent, "narthex-first-"));
  await lchown(made, sandbox.uid, sandbox.gid);
  return made;
}

/** Whether tools of this process could change what is in a directory. */
export async function isWritableByTools(workspace: string): Promise<boolean> {
  const found = await stat(workspace).catch(() => undefined);
  return found?.isDirectory() === true && (found.uid !== 0 || currentIdentity().uid !== 0);
}
