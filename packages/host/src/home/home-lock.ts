import { rm } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";
import { tryExclusiveLock } from "../system/exclusive-lock.ts";
import { openNamedDirectory, openPrivateDirectory } from "../system/private-directory.ts";
import { readHolder, type Holder } from "./holder.ts";
import { type HomePaths, homePaths } from "./home-paths.ts";
import { writePrivateFile } from "./private-file.ts";

export interface HomeLock {
  release(): Promise<void>;
}

export interface HomeClaim {
  release(): void;
}

type HomeLockOwner = Omit<Holder, "pid" | "startedAtMs">;

const RETRY_MS = 25;

/**
 * Locks the home for this process. It is SQLite's lock on a separate file: the system releases it when the process
 * ends, however it ends, and a second attempt in the same process fails like any other.
 */
export async function lockHome(paths: HomePaths, taker: HomeLockOwner, waitMs: number): Promise<HomeLock> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const database = tryLock(paths.lock);
    if (database !== undefined) return hold(paths, taker, database);
    if (performance.now() >= deadline) throw await busy(paths);
    await sleep(RETRY_MS);
  }
}

/**
 * Claims the home for a kernel that is starting and may have to wait for it, so that only one kernel waits. Undefined
 * if another one has the claim.
 */
export async function claimHome(path: string): Promise<HomeClaim | undefined> {
  const paths = homePaths(await openNamedDirectory(path));
  await openPrivateDirectory(paths.run);
  const database = tryLock(paths.claim);
  return database && { release: () => database.close() };
}

function tryLock(path: string): DatabaseSync | undefined {
  try {
    return tryExclusiveLock(path);
  } catch (fault) {
    const code = isDiskError(fault) ? "STORE_UNAVAILABLE" : "HOME_UNSAFE";
    const reason = fault instanceof Error ? fault.message : String(fault);
    throw new KernelError(code, `the home's lock cannot be taken: ${reason}`, { cause: fault });
  }
}

/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL and SQLITE_CANTOPEN: the low byte of the extended error code. */
function isDiskError(fault: unknown): boolean {
  return fault instanceof Error && "errcode" in fault && [8, 10, 13, 14].includes(Number(fault.errcode) & 0xff);
}

async function hold(paths: HomePaths, taker: HomeLockOwner, database: DatabaseSync): Promise<HomeLock> {
  const { command, version, protocol, onDemand } = taker;
  const holder = { pid: process.pid, command, version, protocol, on_demand: onDemand, started_at_ms: Date.now() };
  try {
    await writePrivateFile(paths.holder, JSON.stringify(holder));
  } catch (fault) {
    database.close();
    throw fault;
  }
  return {
    async release() {
      try {
        // Removed before the lock is released, because the next holder writes its own file.
        await rm(paths.holder, { force: true });
      } finally {
        database.close();
      }
    },
  };
}

async function busy(paths: HomePaths): Promise<KernelError> {
  const holder = await readHolder(paths);
  if (holder === undefined) return new KernelError("HOME_BUSY", `another process holds the home \`${paths.home}\``);
  const { command, pid, startedAtMs, onDemand } = holder;
  const who = onDemand ? "a kernel that was started on demand" : `\`${command}\``;
  const end = onDemand ? `; \`narthex stop --data ${paths.home}\` ends it` : "";
  const since = new Date(startedAtMs).toISOString();
  return new KernelError("HOME_BUSY", `${who} (process ${pid}, since ${since}) holds the home \`${paths.home}\`${end}`);
}
