import type { KernelParts } from "../kernel-parts.ts";
import type { EntryDraft } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import type { LiveSession } from "./live-session.ts";
import { sessionRow } from "./session-rows.ts";

/**
 * Quarantines a session, effective at once. Returns the entries and rows to write; none if the session was not open.
 */
export function quarantineSession(
  live: LiveSession,
  reason: string,
  kernel: Pick<KernelParts, "shells" | "logger">,
): { readonly entries: readonly EntryDraft[]; readonly state: readonly StateChange[] } {
  if (live.session.state !== "open") return { entries: [], state: [] };
  live.session = { ...live.session, state: "quarantined" };
  // Its background jobs would only continue their attempts.
  kernel.shells
    ?.endSession(live.id)
    .catch(() => kernel.logger("warn", "jobs could not be ended", { session: live.id }));
  return {
    entries: [{ case: "sessionQuarantined", value: { reason } }],
    state: [sessionRow({ ...live.session, calls: live.calls, labels: live.labels })],
  };
}
