import type { KernelLifecycle } from "./assemble-parts.ts";
import type { KernelParts } from "./kernel-parts.ts";

/** How often a closing kernel looks whether its calls are done. */
const POLL_MS = 20;
/** How long cancelled calls get to be recorded. */
const CANCEL_MS = 2000;

/** Takes no new calls, lets running ones finish, cancels those that do not, signs for them all, and closes the store. */
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
