import type { CapabilityKind } from "../capability/capability.ts";
import type { Effect } from "./tool.ts";

/**
 * Effects that change or send something, so that a `read_only` tool cannot have them: a read-only call writes no
 * intent, runs beside others and may be run again after a crash.
 *
 * `inference` is one: it hands content to somebody else and spends money, neither of which may happen twice unasked.
 * `process_spawn` is not: without a write effect a process gets read-only mounts and no network, and git STATUS is a
 * read that needs one.
 */
export const WRITE_EFFECTS: ReadonlySet<Effect> = new Set<Effect>([
  "net_write",
  "fs_write",
  "db_write",
  "inference",
  "artifact",
]);

/** Effects whose answers come from somewhere that a replay cannot bring back. */
export const OUTSIDE_EFFECTS: ReadonlySet<Effect> = new Set<Effect>(["net_read", "net_write", "inference"]);

/** The rights of which a tool must ask for at least one if it declares the effect. */
export const EFFECT_CAPABILITIES: Readonly<Record<Effect, readonly CapabilityKind[]>> = {
  net_read: ["net_read", "mcp"],
  net_write: ["net_write", "mcp"],
  fs_read: ["fs_read", "vault"],
  fs_write: ["fs_write"],
  db_read: ["db_read"],
  db_write: ["db_write"],
  process_spawn: ["exec", "git"],
  env_read: ["env_read"],
  inference: ["inference"],
  artifact: ["artifact"],
};
