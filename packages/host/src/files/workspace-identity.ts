import { KernelError } from "@narthex/contracts";
import type { SandboxIdentity } from "../sandbox/sandbox-plan.ts";

const NOBODY: SandboxIdentity = { uid: 65_534, gid: 65_534 };

/**
 * Who works on a workspace: whoever owns it if the kernel is root, else the kernel's own user. Nobody works as root: a
 * workspace of root's is read by a user without any rights, and not written at all.
 */
export function workspaceIdentity(owner: SandboxIdentity, access: "read" | "write"): SandboxIdentity {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (uid !== 0) return { uid, gid };
  if (owner.uid !== 0) return owner;
  if (access === "read") return NOBODY;
  throw new KernelError(
    "SANDBOX_UNAVAILABLE",
    "the workspace belongs to root, and no tool writes as root; give it to a user",
  );
}
