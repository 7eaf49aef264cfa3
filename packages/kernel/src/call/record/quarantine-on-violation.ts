import type { StateChange } from "../../ports.ts";
import type { LiveSession } from "../../session/live-session.ts";
import { quarantineSession } from "../../session/quarantine-session.ts";
import { createViolationWindow, isContainmentViolation } from "../../session/violation-window.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { IncomingCall } from "../call.ts";
import type { Failed } from "../ending.ts";

/**
 * Quarantines a session that keeps trying to leave its containment, and at once one whose program changed protected
 * paths that could not be restored. Invalid input never counts: an error that names a field of the input rejected its
 * text, and nothing was tried.
 */
export function quarantineOnViolation(
  incoming: IncomingCall,
  live: LiveSession,
  end: Failed,
  kernel: KernelParts,
): StateChange[] {
  const reason = reasonFor(live, end, kernel);
  if (reason === undefined) return [];
  const { entries, state } = quarantineSession(live, reason, kernel);
  for (const entry of entries) incoming.trail.add(entry);
  return [...state];
}

function reasonFor(live: LiveSession, { code, violations }: Failed, kernel: KernelParts): string | undefined {
  if (code === "PROTECTION_FAILED") return "protected paths could not be put back";
  if (!isContainmentViolation(code) || violations.length > 0 || live.session.state !== "open") return undefined;
  live.violations ??= createViolationWindow(kernel.quarantine);
  return live.violations.note(kernel.ledger.nowMs()) ? `repeated ${code}` : undefined;
}
