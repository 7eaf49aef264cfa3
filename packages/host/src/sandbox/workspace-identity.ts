import { lchown, lstat, readdir } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";
import { findWorkspace } from "./find-workspace.ts";
import type { FileIdentity, SandboxIdentity } from "./sandbox-plan.ts";

/** As whom programs in a workspace run, and what they may do to it. */
export interface WorkspaceIdentity {
  readonly identity: SandboxIdentity;
  /** The directory itself. */
  readonly directory: FileIdentity;
  readonly access: "read" | "write";
  /** Why the workspace can only be read, and what to do about it. */
  readonly reason: string | undefined;
}

export interface IdentityOptions {
  /** Who this process is. */
  readonly uid: number;
  readonly gid: number;
  /** Whom sandboxes run as where the workspace's owner will not do: nobody else's, and not root. */
  readonly sandboxUid: number;
}

/** Between the users of people and those that services are given: no package and no person has it. */
export const DEFAULT_SANDBOX_UID = 65_533;

/**
 * SECURITY: a program never runs as root outside its sandbox. When the kernel is root, programs are the workspace's
 * owner; where that is root as well, they are nobody in particular, and can change nothing there.
 */
export async function findWorkspaceIdentity(workspace: string, options: IdentityOptions): Promise<WorkspaceIdentity> {
  const { owner, device, inode } = await findWorkspace(workspace);
  return { ...identityUnder(owner, workspace, options), directory: { device, inode } };
}

/** The same where the owner is known. */
export function identityUnder(
  owner: SandboxIdentity,
  workspace: string,
  options: IdentityOptions,
): Omit<WorkspaceIdentity, "directory"> {
  const { uid, gid, sandboxUid } = options;
  if (uid !== 0) return { identity: { uid, gid }, access: "write", reason: undefined };
  if (owner.uid !== 0) return { identity: { uid: owner.uid, gid: owner.gid }, access: "write", reason: undefined };
  if (sandboxUid === 0) throw new KernelError("SANDBOX_UNAVAILABLE", "there is no user but root to run programs as");
  return {
    identity: { uid: sandboxUid, gid: sandboxUid },
    access: "read",
    reason: `\`${workspace}\` belongs to root, so tools can only read it: chown it to a user, or hand it over with \`narthex session open --adopt\``,
  };
}

/** This process, and the sandbox's own user. */
export function currentIdentity(sandboxUid: number = DEFAULT_SANDBOX_UID): IdentityOptions {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, sandboxUid };
}

/**
 * Hands a workspace that belongs to root to the user that sandboxes run as: the directory, and what is in it.
 *
 * SECURITY: only what belongs to root is handed over, links are not followed, and another file system is not entered;
 * with several names for one file the other name may lie outside, so such files stay root's.
 */
export async function adoptWorkspace(
  workspace: string,
  identity: SandboxIdentity,
): Promise<{ readonly adopted: number }> {
  const root = await lstat(workspace);
  if (!root.isDirectory()) throw new KernelError("WORKSPACE_REFUSED", "only a directory can be adopted");
  if (root.uid !== 0) return { adopted: 0 };
  let adopted = 0;
  for await (const path of ownedByRoot(workspace, root.dev)) {
    await lchown(path, identity.uid, identity.gid);
    adopted++;
  }
  return { adopted };
}

async function* ownedByRoot(directory: string, device: number): AsyncGenerator<string> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = `${directory}/${entry.name}`;
    const found = await lstat(path);
    if (found.uid !== 0 || found.dev !== device || found.isSymbolicLink()) continue;
    if (found.isDirectory()) yield* ownedByRoot(path, device);
    else if (found.isFile() && found.nlink === 1) yield path;
  }
  yield directory;
}
