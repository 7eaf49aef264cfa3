import type { Capability, CapabilityKind } from "../capability/capability.ts";
import type { Effect } from "./tool.ts";

/**
 * Effects that change or send something and are therefore not allowed in a `read_only` tool: a read-only call writes no
 * intent, runs concurrently with others and may be run again after a crash.
 *
 * Includes `inference`: it sends content to a third party and spends money, neither of which may be repeated without
 * approval. Does not include `process_spawn`: without a write effect a process gets read-only mounts and no network,
 * and git STATUS is a read that needs one.
 */
export const WRITE_EFFECTS: ReadonlySet<Effect> = new Set<Effect>([
  "net_write",
  "fs_write",
  "db_write",
  "inference",
  "artifact",
]);

/** Effects with responses from external systems, which a replay cannot reproduce. */
export const OUTSIDE_EFFECTS: ReadonlySet<Effect> = new Set<Effect>(["net_read", "net_write", "inference"]);

/** For each effect, the capability that a tool declares to require any grant of that kind, without naming a scope. */
export const EFFECT_RIGHTS = {
  net_read: { kind: "net_read", hosts: [] },
  net_write: { kind: "net_write", hosts: [] },
  fs_read: { kind: "fs_read", prefixes: [] },
  fs_write: { kind: "fs_write", prefixes: [] },
  db_read: { kind: "db_read", names: [] },
  db_write: { kind: "db_write", names: [] },
  process_spawn: { kind: "exec", names: [] },
  env_read: { kind: "env_read", names: [] },
  inference: { kind: "inference", models: [] },
  artifact: { kind: "artifact", names: [] },
} satisfies Readonly<Record<Effect, Capability>>;

/**
 * For each effect, the kinds of capabilities of which a tool must declare at least one: the effect's own, or one that
 * implies it.
 */
export const EFFECT_CAPABILITIES: Readonly<Record<Effect, readonly CapabilityKind[]>> = {
  net_read: [EFFECT_RIGHTS.net_read.kind, "mcp"],
  net_write: [EFFECT_RIGHTS.net_write.kind, "mcp"],
  fs_read: [EFFECT_RIGHTS.fs_read.kind, "vault"],
  fs_write: [EFFECT_RIGHTS.fs_write.kind],
  db_read: [EFFECT_RIGHTS.db_read.kind],
  db_write: [EFFECT_RIGHTS.db_write.kind],
  process_spawn: [EFFECT_RIGHTS.process_spawn.kind, "git"],
  env_read: [EFFECT_RIGHTS.env_read.kind],
  inference: [EFFECT_RIGHTS.inference.kind],
  artifact: [EFFECT_RIGHTS.artifact.kind],
};
