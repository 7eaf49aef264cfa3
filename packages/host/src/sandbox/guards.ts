import { lstat, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";
import type { FileIdentity, SandboxMount } from "./sandbox-plan.ts";
import type { SandboxStatus } from "./sandbox-status.ts";

/** A nested mount, with the identity of its source when the sandbox was planned. */
export interface PinnedGuard extends FileIdentity {
  readonly source: string;
  readonly target: string;
  readonly access: SandboxMount["access"];
}

const POLL_MS = 1;
const MAX_POLLS = 10_000;

/** Returns the mounts that must be verified. */
export function guardsOf(mounts: readonly SandboxMount[]): PinnedGuard[] {
  return mounts.flatMap(({ source, target, access, guard }) =>
    guard === undefined ? [] : [{ source, target, access, ...guard }],
  );
}

/**
 * Compares the actual mounts with the planned ones while the program is still held back.
 *
 * SECURITY: between planning and mounting, another sandbox of the same workspace can replace a guarded path with a
 * link, and bubblewrap would mount the link's target.
 */
export async function verifyGuards(
  pid: number,
  marker: string,
  guards: readonly PinnedGuard[],
  status: SandboxStatus,
): Promise<void> {
  const root = `/proc/${pid}/root`;
  // The marker exists only in the finished root: until it shows, `/proc/PID/root` is still the host's root.
  for (let polls = 0; !(await exists(root + marker)); polls++) {
    if (status.hasEnded || polls >= MAX_POLLS) throw new KernelError("SANDBOX_ERROR", "the sandbox was not finished");
    await setTimeout(POLL_MS);
  }
  await compare(guards, "source", "");
  const mounted = await readMounts(pid);
  await compare(guards, "target", root);
  await compare(guards, "source", "");
  for (const { target, access } of guards) if (mounted.get(target) !== access) throw replaced(target);
}

/**
 * SECURITY: inside, a path shows what is mounted on it, but not the directory below the mount: that may be a temporary
 * replacement whose removal takes the mount with it. So each source is also checked outside, where nothing is mounted,
 * before and after.
 */
async function compare(guards: readonly PinnedGuard[], side: "source" | "target", root: string): Promise<void> {
  await Promise.all(
    guards.map(async (guard) => {
      const found = await lstat(root + guard[side], { bigint: true }).catch(() => undefined);
      if (found?.dev !== guard.device || found.ino !== guard.inode) throw replaced(guard.target);
    }),
  );
}

function replaced(target: string): KernelError {
  return new KernelError("SANDBOX_ERROR", `\`${target}\` was replaced while the sandbox was made`);
}

/**
 * Reads the mount points inside and their access. SECURITY: a path that was replaced only for the moment of the mount
 * and then restored shows the right file but has no mount on it.
 */
async function readMounts(pid: number): Promise<Map<string, "read" | "write">> {
  const mounts = new Map<string, "read" | "write">();
  for (const line of (await readFile(`/proc/${pid}/mountinfo`, "latin1")).split("\n")) {
    const [, , , , place, options = ""] = line.split(" ");
    if (place === undefined) continue;
    // White space is escaped as `\040`; the bytes of a name are UTF-8.
    const bytes = place.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    const path = Buffer.from(bytes, "latin1").toString("utf8");
    // The last mount on a path is the visible one.
    mounts.set(path, options.split(",").includes("ro") ? "read" : "write");
  }
  return mounts;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}
