import { isKernelError, KernelError } from "@narthex/contracts";
import type { CallTrail } from "./call-trail.ts";

/**
 * Runs an operation that may change something outside the kernel.
 *
 * INVARIANT: `effects_possible` is true from the moment an operation begins, also for a call that is interrupted, and
 * false again only if the operation failed with an error stating that nothing changed.
 */
export async function withEffect<T>(trail: CallTrail, operate: () => Promise<T>): Promise<T> {
  requireAnyEffect(trail);
  const takeBack = trail.beginEffect();
  try {
    return await operate();
  } catch (fault) {
    if (isKernelError(fault) && fault.changedNothing) takeBack();
    throw fault;
  }
}

/** SECURITY: only the end of such a call's programs is proven after a crash, so it must have no other effect. */
export function requireAnyEffect({ programsIntentKey }: Pick<CallTrail, "programsIntentKey">): void {
  if (programsIntentKey === undefined) return;
  throw new KernelError("INTERNAL", "a tool with `changesByPrograms` changes nothing but through programs");
}

/**
 * Returns the same fault without its claim that nothing changed.
 *
 * SECURITY: the claim is about one operation of a port. A tool that passes the fault on may have done other things
 * before.
 */
export function withoutNoChangeClaim(fault: unknown): unknown {
  if (!isKernelError(fault) || !fault.changedNothing) return fault;
  const { code, message, violations } = fault;
  return new KernelError(code, message, { violations, cause: fault });
}

/** Starts a program. By the contract of the ports that start programs, a rejected start has run nothing. */
export async function startWithEffect<T>(trail: CallTrail, start: () => Promise<T>): Promise<T> {
  const takeBack = trail.beginEffect();
  try {
    return await start();
  } catch (fault) {
    takeBack();
    throw fault;
  }
}
