import { isKernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { LiveSession } from "../session/live-session.ts";
import { requireOpen } from "../session/require-open.ts";
import { Denied } from "./ending.ts";

/** A session can be closed, expire or be quarantined while a call of it waits. */
export function checkSession(live: LiveSession, kernel: KernelParts): Denied | undefined {
  try {
    requireOpen(live, kernel.ledger.nowMs());
    return undefined;
  } catch (fault) {
    if (isKernelError(fault)) return new Denied(fault.code, "kernel:admit", fault.message);
    throw fault;
  }
}
