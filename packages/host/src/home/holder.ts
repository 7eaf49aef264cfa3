import { readFile } from "node:fs/promises";
import type { HomePaths } from "./home-paths.ts";

/** The process that holds a home. */
export interface Holder {
  readonly pid: number;
  readonly command: string;
  /** Of the kernel; empty for a process that opens no sockets. */
  readonly version: string;
  /** The number of the protocol that it speaks on its sockets; 0 for a kernel that did not say. */
  readonly protocol: number;
  /** Started by a client, and ends by itself: another kernel may ask it to go. */
  readonly onDemand: boolean;
  readonly startedAtMs: number;
}

type HolderFile = Readonly<Record<string, unknown>>;

/** The holder of the home as it described itself; undefined if no process holds it, or it has not written its file yet. */
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
