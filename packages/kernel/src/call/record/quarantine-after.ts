import type { StateChange } from "../../ports.ts";
import type { LiveSession } from "../../session/live-session.ts";
import { sessionRow } from "../../session/session-rows.ts";
import { createViolationWindow, isContainmentViolation } from "../../session/violation-window.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { CallFrame } from "../call.ts";
import type { Failed } from "../ending.ts";

/**
 * A session that keeps trying to leave its containment is shut out. Invalid input never counts: what names a field of the
 * input was refused for its text, and nothing was tried.
 */
export function quarantineAfter(frame: CallFrame, live: LiveSession, end: Failed, kernel: KernelParts): StateChange[] {
  if (!isContainmentViolation(end.code) || end.violations.length > 0 || live.session.state !== "open") return [];
  live.violations ??= createViolationWindow(kernel.quarantine);
  if (!live.violations.note(kernel.ledger.nowMs())) return [];
  live.session = { ...live.session, state: "quarantined" };
  // What it has running in the background would only go on trying.
  kernel.shells?.endSession(live.id).catch(() => kernel.log("warn", "jobs could not be ended", { session: live.id }));
  frame.trail.add({ case: "sessionQuarantined", value: { reason: `repeated ${end.code}` } });
  return [sessionRow({ ...live.session, calls: live.calls, labels: live.labels })];
}
