import { KernelError } from "@narthex/contracts";
import { findWorkspace } from "./find-workspace.ts";
import type { FileIdentity, SandboxIdentity } from "./sandbox-plan.ts";

/** The user that programs in a workspace run as, and their access to it. */
export interface WorkspaceIdentity {
  readonly identity: SandboxIdentity;
  /** Identity of the directory itself. */
  readonly directory: FileIdentity;
  readonly access: "read" | "write";
  /** Why the workspace is read-only, and what to do about it. */
  readonly reason: string | undefined;
}

export interface IdentityOptions {
  /** User of this process. */
  readonly uid: number;
  readonly gid: number;
  /** User of sandboxes where the workspace's owner cannot be used: not root, and not used by anything else. */
  readonly sandboxUid: number;
}

/** Between the ranges for people and for services: not assigned to any package or person. */
export const DEFAULT_SANDBOX_UID = 65_533;

/**
 * SECURITY: a program never runs as root on the host. If the kernel is root, programs run as the workspace's owner; if
 * that is root too, they run as the sandbox user, which can change nothing there.
 */
export async function findWorkspaceIdentity(workspace: string, options: IdentityOptions): Promise<WorkspaceIdentity> {
  const { owner, device, inode } = await findWorkspace(workspace);
  return { ...identityUnder(owner, workspace, options), directory: { device, inode } };
}

/** As `findWorkspaceIdentity`, with a known owner. */
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

/** Returns the user of this process, and the sandbox user. */
export function currentIdentity(sandboxUid: number = DEFAULT_SANDBOX_UID): IdentityOptions {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, sandboxUid };
}
