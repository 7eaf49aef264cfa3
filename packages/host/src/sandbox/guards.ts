import { lstat, open, stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";
import type { SandboxMount } from "./sandbox-plan.ts";
import type { SandboxStatus } from "./sandbox-status.ts";

/** A nested mount, and what it was when the sandbox was planned. */
export interface PinnedGuard {
  readonly target: string;
  readonly device: bigint;
  readonly inode: bigint;
}

const POLL_MS = 1;
const MAX_POLLS = 10_000;

/** Looks once at each guarded path, without following a link at its end. */
export async function pinGuards(mounts: readonly SandboxMount[]): Promise<PinnedGuard[]> {
  const guarded = mounts.filter((mount) => mount.isGuard === true);
  return await Promise.all(
    guarded.map(async ({ source, target }) => {
      const file = await open(source, O_PATH | O_NOFOLLOW);
      try {
        const { dev, ino } = await file.stat({ bigint: true });
        return { target, device: dev, inode: ino };
      } finally {
        await file.close();
      }
    }),
  );
}

/**
 * Compares what was mounted with what was meant, while the program is still held back.
 *
 * SECURITY: between the plan and the mount another sandbox of the same workspace can put a link in the place of a
 * guarded path, and bubblewrap would mount whatever it leads to.
 */
export async function verifyGuards(
  pid: number,
  marker: string,
  guards: readonly PinnedGuard[],
  status: SandboxStatus,
): Promise<void> {
  const root = `/proc/${pid}/root`;
  // The marker exists in the finished root only: until it shows, that path is still the host's.
  for (let polls = 0; !(await exists(root + marker)); polls++) {
    if (status.hasEnded || polls >= MAX_POLLS) throw new KernelError("SANDBOX_ERROR", "the sandbox was not finished");
    await setTimeout(POLL_MS);
  }
  for (const { target, device, inode } of guards) {
    const found = await stat(root + target, { bigint: true });
    if (found.dev === device && found.ino === inode) continue;
    throw new KernelError("SANDBOX_ERROR", `\`${target}\` was replaced while the sandbox was made`);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

const O_PATH = 0o10000000;
const O_NOFOLLOW = 0o400000;
