import { setTimeout } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";
import type { FileIdentity } from "../sandbox/sandbox-plan.ts";
import { openLockDirectory } from "./lock-directory.ts";
import { type LockFile, takeLockFile } from "./lock-file.ts";

const WAIT_MS = 10_000;
const RETRY_MS = 50;
const IDLE_MS = 1000;

interface Held {
  users: number;
  readonly file: Promise<LockFile>;
  /** Set once the lock is taken. */
  taken: LockFile | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** Locks held by this process; two kernels in one process share them. */
const HELD = new Map<string, Held>();
let isReleasedAtExit = false;

/**
 * Locks a workspace for programs of this kernel that write it. Returns the release function.
 *
 * SECURITY: a program of another kernel does not know this kernel's guards, and could replace a path that is about to
 * be guarded. The lock is a file in a directory that only this user can enter: no other user can hold it, no sandbox
 * can reach it, and it is released when the process ends. Kernels of different users do not see each other's locks.
 */
export async function lockWorkspace(
  { device, inode }: FileIdentity,
  signal: AbortSignal,
  directory: () => Promise<string> = openLockDirectory,
): Promise<() => void> {
  const name = `${device}-${inode}`;
  let held = HELD.get(name);
  if (held === undefined) {
    const taking: Held = { users: 0, file: take(name, directory), taken: undefined, timer: undefined };
    HELD.set(name, taking);
    taking.file.then(
      (file) => (taking.taken = file),
      () => HELD.delete(name),
    );
    held = taking;
  }
  held.users++;
  clearTimeout(held.timer);
  try {
    // Other calls may wait for the same lock: a cancelled call stops waiting without affecting them.
    await Promise.race([held.file, cancelled(signal)]);
  } catch (fault) {
    letGo(name, held);
    throw fault;
  }
  return () => letGo(name, held);
}

function letGo(name: string, held: Held): void {
  if (--held.users > 0) return;
  // Delay the release: the next call usually follows soon.
  held.timer = globalThis.setTimeout(() => {
    if (held.users > 0) return;
    HELD.delete(name);
    held.file.then((file) => file.release()).catch(() => undefined);
  }, IDLE_MS);
  held.timer.unref();
}

async function take(name: string, directory: () => Promise<string>): Promise<LockFile> {
  const place = await directory();
  if (!isReleasedAtExit) process.once("exit", releaseAll);
  isReleasedAtExit = true;
  for (const endMs = performance.now() + WAIT_MS; ; ) {
    const file = tryToTake(place, name);
    if (file !== undefined) return file;
    if (performance.now() > endMs) {
      const message =
        "another kernel of this user runs programs in this workspace; wait for them to end, or open a session there";
      throw new KernelError("SANDBOX_UNAVAILABLE", message);
    }
    await setTimeout(RETRY_MS);
  }
}

/** The system releases the locks in any case; this also removes their files. */
function releaseAll(): void {
  for (const { taken } of HELD.values()) {
    try {
      taken?.release();
    } catch {
      // The directory may be gone already.
    }
  }
}

/** Returns undefined if another process holds the lock. */
function tryToTake(directory: string, name: string): LockFile | undefined {
  try {
    return takeLockFile(directory, name);
  } catch (cause) {
    throw new KernelError("SANDBOX_ERROR", "the workspace cannot be locked", { cause });
  }
}

function cancelled(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(new KernelError("CANCELLED", "the call was cancelled while it waited"));
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}
