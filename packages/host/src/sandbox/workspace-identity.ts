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
