import { readFile } from "node:fs/promises";
import type { HomePaths } from "./home-paths.ts";

/** The process that holds a home. */
export interface Holder {
  readonly pid: number;
  readonly command: string;
  /** Version of the kernel; empty for a process that opens no sockets. */
  readonly version: string;
  /** Version of the protocol on its sockets; 0 for a kernel that did not report one. */
  readonly protocol: number;
  /** Started by a client, and exits by itself; another kernel may ask it to exit. */
  readonly onDemand: boolean;
  readonly startedAtMs: number;
}

type HolderFile = Readonly<Record<string, unknown>>;

/**
 * Reads the holder of the home as it described itself; undefined if no process holds the home, or the holder has not
 * written its file yet.
 */
export async function readHolder(paths: HomePaths): Promise<Holder | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(paths.holder, "utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const { pid, command, version, protocol, on_demand: onDemand, started_at_ms: startedAtMs } = value as HolderFile;
    if (typeof pid !== "number" || typeof command !== "string" || typeof startedAtMs !== "number") return undefined;
    return {
      pid,
      command,
      version: typeof version === "string" ? version : "",
      protocol: typeof protocol === "number" ? protocol : 0,
      onDemand: onDemand === true,
      startedAtMs,
    };
  } catch {
    return undefined;
  }
}
