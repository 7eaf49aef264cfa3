import { setTimeout as sleep } from "node:timers/promises";
import { claimHome, readHolder, type Holder, type HomeClaim, homePaths } from "@narthex/host";
import type { Logger } from "@narthex/kernel";
import { compareVersions } from "../connection/decide-attach.ts";
import { findSockets } from "../connection/kernel-files.ts";
import { createKernelHealth } from "../connection/kernel-health.ts";
import { openProcessClient } from "../connection/process-client.ts";
import { VERSION } from "../version.ts";

export interface AcquireHomeOptions<T> {
  readonly home: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Opens the home. Throws HOME_BUSY if another process holds it for longer than `waitMs`. */
  open(waitMs: number): Promise<T>;
  /** Throws if this kernel could not start for a reason that can be detected before the home is free. */
  prepare(): Promise<void>;
}

/** A kernel started on demand may have calls to finish; a short command releases the home by itself. */
const WAIT_MS = 30_000;
const SHORT_COMMAND_MS = 5000;
const CLAIM_WAIT_MS = 15_000;
const LOCK_WAIT_MS = 200;
const POLL_MS = 25;
const HEALTH_TIMEOUT_MS = 5000;

/**
 * Acquires the home for `serve`. A kernel that was started on demand is asked to stop; if another `serve` holds the
 * home, throws HOME_BUSY.
 *
 * INVARIANT: only a kernel that has the claim asks another one to stop, so that clients start no third one meanwhile.
 */
export async function acquireHomeForServe<T>(options: AcquireHomeOptions<T>): Promise<T> {
  const claim = await claimWithin(options.home, CLAIM_WAIT_MS, options.signal);
  try {
    for (const turn = beginAcquisition(options); ; ) {
      const taken = await turn.tryToOpen();
      if ("kernel" in taken) return taken.kernel;
      const { holder, busy, waitedMs } = taken;
      if (holder?.onDemand === true) await turn.requestStop(holder, "`serve` takes its place");
      else if (holder?.command === "serve" || waitedMs > SHORT_COMMAND_MS) throw busy;
      if (waitedMs > WAIT_MS) throw busy;
    }
  } finally {
    claim?.release();
  }
}

/**
 * Acquires the home for a kernel that clients start. An older kernel that was started on demand is asked to stop.
 * Returns undefined if this kernel is not needed, because another one serves or starts.
 */
export async function acquireHomeOnDemand<T>(options: AcquireHomeOptions<T>): Promise<T | undefined> {
  const claim = await claimWithin(options.home, 0, options.signal);
  if (claim === undefined) return undefined;
  try {
    for (const turn = beginAcquisition(options); ; ) {
      const taken = await turn.tryToOpen();
      if ("kernel" in taken) return taken.kernel;
      const { holder, busy, waitedMs } = taken;
      const isOlder = holder?.onDemand === true && compareVersions(VERSION, holder.version) > 0;
      if (isOlder) await turn.requestStop(holder, `narthex ${VERSION} takes its place`);
      else if (await isServing(options.home)) return undefined;
      if (waitedMs > WAIT_MS) throw busy;
    }
  } finally {
    claim.release();
  }
}

interface Busy {
  /** The HOME_BUSY error. */
  readonly busy: Error;
  readonly holder: Holder | undefined;
  readonly waitedMs: number;
}

interface HomeAcquisition<T> {
  tryToOpen(): Promise<{ readonly kernel: T } | Busy>;
  /** Sends at most one successful request to each holder. */
  requestStop(holder: Holder, reason: string): Promise<void>;
}

function beginAcquisition<T>({ home, signal, open, prepare, log }: AcquireHomeOptions<T>): HomeAcquisition<T> {
  const startedAtMs = performance.now();
  const asked = new Set<number>();
  return {
    async tryToOpen() {
      try {
        return { kernel: await open(LOCK_WAIT_MS) };
      } catch (error) {
        if (!isHomeBusy(error)) throw error;
        signal.throwIfAborted();
        const holder = await readHolder(homePaths(home));
        return { busy: error, holder, waitedMs: performance.now() - startedAtMs };
      }
    },
    async requestStop({ pid }, reason) {
      if (asked.has(pid)) return;
      await prepare();
      try {
        await stopKernel(home, reason);
        asked.add(pid);
        log("info", "asked the kernel that was started on demand to let go of the home", { process: pid });
      } catch {
        // The holder is about to open its sockets, or to stop; the request is repeated.
      }
    },
  };
}

async function claimWithin(home: string, waitMs: number, signal: AbortSignal): Promise<HomeClaim | undefined> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const claim = await claimHome(home);
    if (claim !== undefined || performance.now() >= deadline) return claim;
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function stopKernel(home: string, reason: string): Promise<void> {
  const client = await openProcessClient(home);
  try {
    await client.stop(reason);
  } finally {
    client.close();
  }
}

async function isServing(home: string): Promise<boolean> {
  const health = createKernelHealth((await findSockets(home)).services);
  try {
    return (await health.check(HEALTH_TIMEOUT_MS)) === "serving";
  } finally {
    health.close();
  }
}

function isHomeBusy(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "HOME_BUSY";
}
