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
  /** Once it is taken. */
  taken: LockFile | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** Of this process; two kernels in it count as one. */
const HELD = new Map<string, Held>();
let isReleasedAtExit = false;

/**
 * Takes a workspace for the programs of this kernel that write it. Answers what lets go of it.
 *
 * SECURITY: a program of another kernel knows nothing of the guards of this one, and could swap what is about to be
 * guarded. The lock is a file in a directory that only this user can enter: no other user can hold it, no sandbox reaches
 * it, and it ends with the process. Kernels of different users do not see each other's.
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
    // Others may wait for the same lock: one that is cancelled leaves without them.
    await Promise.race([held.file, cancelled(signal)]);
  } catch (fault) {
    letGo(name, held);
    throw fault;
  }
  return () => letGo(name, held);
}

function letGo(name: string, held: Held): void {
  if (--held.users > 0) return;
  // The next call is mostly on its way.
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

/** The system lets go of them in any case; this also removes their files. */
function releaseAll(): void {
  for (const { taken } of HELD.values()) {
    try {
      taken?.release();
    } catch {
      // The directory may be gone by now.
    }
  }
}

/** Undefined while another process has it. */
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
