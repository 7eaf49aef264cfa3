import type { JsonObject } from "@narthex/contracts";
import type { Capability, Effect } from "@narthex/kernel";

export type PlainCapability = Capability & JsonObject;

/** The right that a tool has to ask for so that it may declare the effect: some right of that kind. */
const CAPABILITIES: Readonly<Record<Effect, PlainCapability>> = {
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
};

export function effectCapabilities(effects: readonly Effect[]): PlainCapability[] {
  return effects.map((effect) => CAPABILITIES[effect]);
}
