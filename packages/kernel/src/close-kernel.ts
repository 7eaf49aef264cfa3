import type { KernelLifecycle } from "./assemble-parts.ts";
import type { KernelParts } from "./kernel-parts.ts";

/** How often a closing kernel checks whether its calls have ended. */
const POLL_MS = 20;
/** How long to wait until cancelled calls are recorded. */
const CANCEL_MS = 2000;

/**
 * Rejects new calls, lets running ones finish, cancels those that do not, signs a last checkpoint and closes the store.
 */
export async function closeKernel(graceMs: number, gate: KernelLifecycle, parts: KernelParts): Promise<void> {
  gate.closing = true;
  await drained(parts, graceMs);
  for (const live of parts.sessions.live()) for (const call of live.running.list()) call.cancel("closing");
  await drained(parts, CANCEL_MS);
  await parts.approvals.close();
  await parts.refusals.flush().catch(() => undefined);
  await parts.checkpoints?.close();
  parts.ledger.close();
  await parts.store.close();
}

async function drained(parts: KernelParts, withinMs: number): Promise<void> {
  const until = parts.clock.monotonicMs() + withinMs;
  while (parts.counters.running > 0 && parts.clock.monotonicMs() < until) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
