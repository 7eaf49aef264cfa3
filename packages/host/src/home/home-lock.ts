import { readFile, rm } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject, KernelError, parseJson } from "@narthex/contracts";
import type { HomePaths } from "./home-paths.ts";
import { writePrivateFile } from "./private-directory.ts";
import { tryExclusiveLock } from "../system/exclusive-lock.ts";

/** Who holds a home. */
export interface Holder {
  readonly pid: number;
  readonly command: string;
  /** Of the kernel it is; empty for whoever opens none to others. */
  readonly version: string;
  readonly startedAtMs: number;
}

export interface HomeLock {
  release(): Promise<void>;
}

type HomeTaker = Pick<Holder, "command" | "version">;

const LOOK_AGAIN_MS = 25;

/**
 * Takes the home for this process. The lock is SQLite's own on a file of its own: the system lets go of it when the
 * process ends, however it ends, and a second taker in the same process is refused like any other.
 */
export async function takeHome(paths: HomePaths, taker: HomeTaker, waitMs: number): Promise<HomeLock> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const database = tryLock(paths.lock);
    if (database !== undefined) return hold(paths, taker, database);
    if (performance.now() >= deadline) throw await busy(paths);
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Who holds the home, as they said when they took it; undefined if they have not said yet, or nobody does. */
export async function describeHolder(paths: HomePaths): Promise<Holder | undefined> {
  try {
    const value = parseJson(await readFile(paths.holder));
    if (!isJsonObject(value)) return undefined;
    const { pid, command, version = "", started_at_ms: startedAtMs } = value;
    if (typeof pid !== "number" || typeof command !== "string" || typeof startedAtMs !== "number") return undefined;
    return { pid, command, version: typeof version === "string" ? version : "", startedAtMs };
  } catch {
    return undefined;
  }
}

function tryLock(path: string): DatabaseSync | undefined {
  try {
    return tryExclusiveLock(path);
  } catch (fault) {
    const code = isOfDisk(fault) ? "STORE_UNAVAILABLE" : "HOME_UNSAFE";
    const reason = fault instanceof Error ? fault.message : String(fault);
    throw new KernelError(code, `the home's lock cannot be taken: ${reason}`, { cause: fault });
  }
}

/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL and SQLITE_CANTOPEN, the low byte of whatever finer code there is. */
function isOfDisk(fault: unknown): boolean {
  return fault instanceof Error && "errcode" in fault && [8, 10, 13, 14].includes(Number(fault.errcode) & 0xff);
}

async function hold(paths: HomePaths, taker: HomeTaker, database: DatabaseSync): Promise<HomeLock> {
  const holder = { pid: process.pid, command: taker.command, version: taker.version, started_at_ms: Date.now() };
  try {
    await writePrivateFile(paths.holder, JSON.stringify(holder));
  } catch (fault) {
    database.close();
    throw fault;
  }
  return {
    async release() {
      try {
        // Gone before the lock is: whoever takes it next writes its own.
        await rm(paths.holder, { force: true });
      } finally {
        database.close();
      }
    },
  };
}

async function busy(paths: HomePaths): Promise<KernelError> {
  const holder = await describeHolder(paths);
  const who =
    holder === undefined
      ? "another process"
      : `\`${holder.command}\` (process ${holder.pid}, since ${new Date(holder.startedAtMs).toISOString()})`;
  return new KernelError("HOME_BUSY", `${who} holds the home \`${paths.home}\``);
}
