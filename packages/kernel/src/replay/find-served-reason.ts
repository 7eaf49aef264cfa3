import type { NarrowedTool } from "../tool/narrow-tool.ts";
import type { Effect, Tool } from "../tool/tool.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { ReplayPorts } from "./replay-ports.ts";
import type { ServedReason } from "./replay-report.ts";

/** Errors that say what the kernel or the machine did to a call, and not what its tool answered. */
const FROM_OUTSIDE: ReadonlySet<string> = new Set([
  "TIMEOUT",
  "CANCELLED",
  "RESOURCE_EXCEEDED",
  "UNDECLARED_EFFECT",
  "SANDBOX_UNAVAILABLE",
  "SANDBOX_ERROR",
  "PROTECTION_FAILED",
  "STORE_UNAVAILABLE",
  "OUTCOME_UNKNOWN",
  "INTERNAL",
]);

const SERVED_EFFECTS: Readonly<Record<Exclude<Effect, "fs_read" | "fs_write">, ServedReason>> = {
  net_read: "network",
  net_write: "network",
  inference: "network",
  db_read: "programs",
  db_write: "programs",
  process_spawn: "programs",
  env_read: "determinism",
  artifact: "artifacts",
};

export function isSeeded(determinism: string): boolean {
  return determinism === "pure" || determinism === "deterministic";
}

/** Why a call is not run again, as far as that can be known before it is; undefined if it is. */
export function findServedReason(
  call: RecordedCall,
  tool: Tool,
  { effects, determinism }: Pick<NarrowedTool, "effects" | "determinism">,
  { programs, wasm }: ReplayPorts,
): ServedReason | undefined {
  const { outcome } = call;
  if (!isSeeded(determinism)) return "determinism";
  if (call.isSettled) return "settled";
  if (outcome?.kind === "timed_out" || isFromOutside(outcome?.value.code ?? "", tool)) return "interrupted";
  for (const effect of effects) {
    if (effect !== "fs_read" && effect !== "fs_write") return SERVED_EFFECTS[effect];
  }
  if (outcome?.kind === "failed" && effects.length > 0) return "failed_on_files";
  if (tool.isolation === "process") {
    if (effects.length > 0) return "programs";
    if (programs === undefined) return "no_sandbox";
  }
  if (tool.isolation === "wasm") {
    if (effects.length > 0) return "programs";
    if (wasm === undefined) return "no_sandbox";
  }
  // What is recorded of such a tool's input is not what it was given.
  return tool.canonicalInput === undefined ? undefined : "not_kept";
}

/** What a module may use is counted in its own steps, so that it ends at the same one again. */
function isFromOutside(code: string, { isolation }: Tool): boolean {
  return FROM_OUTSIDE.has(code) && !(isolation === "wasm" && code === "RESOURCE_EXCEEDED");
}
