import { parseJson } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { describeFault } from "../result/describe-fault.ts";
import { sessionStateAt } from "./session-state-at.ts";
import { sessionFromJson } from "./session-to-json.ts";

/** Removes sandbox state that earlier kernels left behind for ended sessions. Never rejects: the next start retries. */
export async function removeLeftovers(kernel: KernelParts): Promise<void> {
  const { programs, store, ledger } = kernel;
  const hasEnded = async (sessionId: string): Promise<boolean> => {
    if (kernel.closing()) return false;
    const row = await store.getState("sessions", sessionId);
    if (row === undefined) return true;
    const state = sessionStateAt(sessionFromJson(parseJson(row)), ledger.nowMs());
    return state === "closed" || state === "expired";
  };
  await programs?.removeLeftovers(hasEnded).catch((fault: unknown) => {
    kernel.logger("warn", "leftovers of an ended session could not be removed", { cause: describeFault(fault) });
  });
}
