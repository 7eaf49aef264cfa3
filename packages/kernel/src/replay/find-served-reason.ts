import type { NarrowedTool } from "../tool/narrow-tool.ts";
import type { Effect, Tool } from "../tool/tool.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { ReplayPorts } from "./replay-ports.ts";
import type { ServedReason } from "./replay-report.ts";

/** Errors caused by the kernel or the machine, not by the tool itself. */
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

/**
 * Why a call is served from its record instead of running again, as far as this is known before it runs; undefined if
 * it runs.
 */
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
  // The recorded input of such a tool is not the input that it received.
  return tool.canonicalInput === undefined ? undefined : "not_kept";
}

/** A module's resources are counted in its own steps, so a module that exceeded them does so again at the same step. */
function isFromOutside(code: string, { isolation }: Tool): boolean {
  return FROM_OUTSIDE.has(code) && !(isolation === "wasm" && code === "RESOURCE_EXCEEDED");
}
