import type { KernelParts } from "../kernel-parts.ts";
import type { EntryDraft } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import type { LiveSession } from "./live-session.ts";
import { sessionRow } from "./session-rows.ts";

/** Shuts a session out from now on. Gives what has to be written for it to last; nothing if it was not open. */
export function quarantineSession(
  live: LiveSession,
  reason: string,
  kernel: Pick<KernelParts, "shells" | "logger">,
): { readonly entries: readonly EntryDraft[]; readonly state: readonly StateChange[] } {
  if (live.session.state !== "open") return { entries: [], state: [] };
  live.session = { ...live.session, state: "quarantined" };
  // What it has running in the background would only go on trying.
  kernel.shells
    ?.endSession(live.id)
    .catch(() => kernel.logger("warn", "jobs could not be ended", { session: live.id }));
  return {
    entries: [{ case: "sessionQuarantined", value: { reason } }],
    state: [sessionRow({ ...live.session, calls: live.calls, labels: live.labels })],
  };
}
