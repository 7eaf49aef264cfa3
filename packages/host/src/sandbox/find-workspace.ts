import { constants } from "node:fs";
import { open, readlink, stat } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";
import type { FileIdentity, SandboxIdentity } from "./sandbox-plan.ts";

const O_PATH = 0o10000000;

/** A workspace's directory and its owner. */
export interface FoundWorkspace extends FileIdentity {
  readonly owner: SandboxIdentity;
}

/**
 * Finds a workspace by the real path that its session was opened on.
 *
 * SECURITY: if one workspace contains another, an agent of the outer one can replace a directory on the way to the
 * inner one with a link. A directory whose real path differs from the requested one is rejected.
 */
export async function findWorkspace(workspace: string): Promise<FoundWorkspace> {
  const known = KNOWN.get(workspace);
  if (known !== undefined) {
    // `stat` follows links, so its result is accepted only if it equals what was found earlier without following links.
    const now = await stat(workspace, { bigint: true }).catch(() => undefined);
    const isSame =
      now?.dev === known.device &&
      now.ino === known.inode &&
      Number(now.uid) === known.owner.uid &&
      Number(now.gid) === known.owner.gid;
    if (isSame) return known;
  }
  const found = await lookAt(workspace);
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  KNOWN.set(workspace, found);
  return found;
}

const KNOWN = new Map<string, FoundWorkspace>();
const MAX_KNOWN = 1000;

async function lookAt(workspace: string): Promise<FoundWorkspace> {
  const shown = `\`${workspace.slice(0, 200)}\``;
  const held = await open(workspace, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch((cause: unknown) => {
    const isLink = cause instanceof Error && "code" in cause && (cause.code === "ELOOP" || cause.code === "ENOTDIR");
    if (isLink) throw new KernelError("NOT_A_DIRECTORY", `the workspace ${shown} is not a directory`, { cause });
    throw new KernelError("FILE_NOT_FOUND", `the workspace ${shown} is gone`, { cause });
  });
  try {
    const name = await readlink(`/proc/self/fd/${held.fd}`);
    if (name !== workspace) throw new KernelError("PATH_ESCAPE", `the workspace ${shown} is reached by a link now`);
    const { dev, ino, uid, gid } = await held.stat({ bigint: true });
    return { device: dev, inode: ino, owner: { uid: Number(uid), gid: Number(gid) } };
  } finally {
    await held.close();
  }
}
