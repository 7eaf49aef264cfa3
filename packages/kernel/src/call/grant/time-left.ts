import type { KernelParts } from "../../kernel-parts.ts";
import type { PermittedCall } from "../decide/decide.ts";

/**
 * Returns how long a granted call may still take, in milliseconds.
 *
 * INVARIANT: a seeded call sees no clock but its logical one, so it always gets the same value.
 */
export function timeLeftMs(call: PermittedCall, kernel: KernelParts): number {
  const { trail, incoming, timeoutMs, determinism, live } = call;
  if (determinism === "pure" || determinism === "deterministic") return timeoutMs;
  const allowedMs = Math.min(timeoutMs, trail.reservation?.amounts.wall_ms ?? timeoutMs);
  const endMs = Math.min(trail.startedAtMs + allowedMs, incoming.deadlineMs);
  const leftMs = Math.min(endMs - kernel.clock.monotonicMs(), live.lease.expiresAtMs - kernel.ledger.nowMs());
  return Math.max(0, Math.floor(leftMs));
}
