import { isKernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { LiveSession } from "../session/live-session.ts";
import { requireOpen } from "../session/require-open.ts";
import { Denied } from "./ending.ts";

/** Returns the session if it is open. It can be closed, expire or be quarantined while one of its calls waits. */
export function checkSession(live: LiveSession | undefined, kernel: KernelParts): LiveSession | Denied {
  try {
    return requireOpen(live, kernel.ledger.nowMs());
  } catch (fault) {
    if (isKernelError(fault)) return new Denied(fault.code, "kernel:admit", fault.message);
    throw fault;
  }
}
