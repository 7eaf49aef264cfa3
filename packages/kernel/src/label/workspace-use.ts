import type { Effect } from "../tool/tool.ts";

/** How a call uses its session's workspace. */
export type WorkspaceUse = "none" | "read" | "write";

const WRITES: ReadonlySet<Effect> = new Set<Effect>(["fs_write", "db_write"]);
const READS: ReadonlySet<Effect> = new Set<Effect>(["fs_read", "db_read", "process_spawn"]);

/**
 * SECURITY: a process always counts as a reader, whatever it was started for. A writer counts as a reader too: its
 * result tells what was there before, and files that it moves can be read elsewhere.
 */
export function workspaceUse(effects: readonly Effect[]): WorkspaceUse {
  let use: WorkspaceUse = "none";
  for (const effect of effects) {
    if (WRITES.has(effect)) return "write";
    if (READS.has(effect)) use = "read";
  }
  return use;
}
