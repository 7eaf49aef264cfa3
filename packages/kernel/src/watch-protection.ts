import type { ProtectionReport } from "./sandboxed-programs.ts";
import type { KernelParts } from "./kernel-parts.ts";
import { SYSTEM_CHAIN } from "./ledger/record-draft.ts";
import { describeFault } from "./result/describe-fault.ts";
import { quarantineSession } from "./session/quarantine-session.ts";

/**
 * Completes restores that a killed kernel left undone, and records the protected paths that are restored from now on.
 */
export async function watchProtection(kernel: KernelParts): Promise<void> {
  await kernel.programs?.watchProtection?.((report) => recordProtection(report, kernel));
}

/**
 * Records a report. Resolves when it is durable, and when sessions whose changes could not be reverted are quarantined.
 */
async function recordProtection(report: ProtectionReport, kernel: KernelParts): Promise<void> {
  const { workspace, sessionIds, paths, keptIn, afterCrash, problem, acceptedBy } = report;
  const fields = { workspace, paths: paths.join(", "), kept_in: keptIn.join(", "), problem };
  if (problem !== "") kernel.logger("error", "protected paths could not be put back: no program runs there", fields);
  else if (acceptedBy === "") kernel.logger("warn", "protected paths were put back", fields);
  const value = { workspace, sessionIds: [...sessionIds], paths: [...paths], keptIn: [...keptIn] };
  await kernel.ledger.append({
    chain: SYSTEM_CHAIN,
    entries: [{ case: "protectedPathsRestored", value: { ...value, afterCrash, problem, acceptedBy } }],
    state: [],
  });
  if (problem !== "") for (const sessionId of sessionIds) await quarantine(sessionId, kernel);
}

async function quarantine(sessionId: string, kernel: KernelParts): Promise<void> {
  try {
    const live = await kernel.sessions.find(sessionId);
    if (live === undefined) return;
    const { entries, state } = quarantineSession(live, "protected paths could not be put back", kernel);
    if (entries.length > 0) await kernel.ledger.append({ chain: live.id, entries: [...entries], state: [...state] });
  } catch (fault) {
    kernel.logger("error", "a session could not be quarantined", { session: sessionId, cause: describeFault(fault) });
  }
}
