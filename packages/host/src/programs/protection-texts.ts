import { KernelError } from "@narthex/contracts";
import type { ProtectionReport } from "@narthex/kernel";
import { shownPath } from "./file-name.ts";

/** Restored paths, and where the changed files are kept. */
export interface RestoreOutcome {
  readonly paths: readonly string[];
  readonly keptIn: readonly string[];
}

/** Limits for the ledger, and for the text shown to a model. */
const MAX_NAMED = 50;
const MAX_TOLD = 10;
const MAX_TOLD_LENGTH = 60;

/** A report without any findings. */
export const EMPTY_REPORT: Omit<ProtectionReport, "workspace" | "sessionIds"> = {
  paths: [],
  keptIn: [],
  afterCrash: false,
  problem: "",
  acceptedBy: "",
};

/** Formats paths for the ledger and for people. */
export function pathsForLedger(paths: readonly string[], max = MAX_NAMED, maxLength?: number): string[] {
  const more = paths.length > max ? [`and ${paths.length - max} more`] : [];
  return [...paths.slice(0, max).map((path) => shownPath(path, maxLength)), ...more];
}

/** Formats paths for the response to a model, whose length is limited. */
export function pathsForModel({ paths, keptIn }: RestoreOutcome): string[] {
  const kept = keptIn.slice(0, MAX_TOLD).map((place) => `kept in ${place.slice(0, 2 * MAX_TOLD_LENGTH)}`);
  return [...pathsForLedger(paths, MAX_TOLD, MAX_TOLD_LENGTH), ...kept];
}

/** Explains why no program is started in a workspace, and what to do about it. */
export function unsafeWorkspaceError(workspace: string, problem: string): KernelError {
  return new KernelError(
    "SANDBOX_UNAVAILABLE",
    `no program runs in \`${workspace}\`: protected paths may not be as they were (${problem}); look at them, then accept them with narthex doctor --accept, which narthex doctor prints whole`,
  );
}

export function describeFault(fault: unknown): string {
  return fault instanceof Error ? fault.message.slice(0, 300) : "unknown error";
}
