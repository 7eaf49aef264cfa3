import type { Chain } from "./chain.ts";
import type { DecodedRecord, EntryKind } from "./ledger-messages.ts";
import type { ProblemList } from "./problem-list.ts";
import { SYSTEM_CHAIN } from "./system-chain.ts";

/**
 * Entries that begin something, like an intent. Outcomes, read-only calls, uploads and settlements of earlier
 * beginnings may come late: a ledger does not show when they began.
 */
const NEVER_AFTER_CLOSE: ReadonlySet<EntryKind> = new Set<EntryKind>([
  "sessionClosed",
  "sessionQuarantined",
  "leaseGranted",
  "leaseDelegated",
]);

/**
 * Checks that a session's chain begins with opening that session, once, and that nothing begins in it after it was
 * closed.
 */
export function checkSession(chain: Chain, record: DecodedRecord, problems: ProblemList): void {
  let opened = false;
  for (const { kind } of record.entries) {
    if (kind.case === "sessionOpened") {
      if (opened || record.sequence > 0 || kind.value.sessionId !== chain.name) {
        problems.add("session_order", record, "a session is opened once, by the first record of its own chain");
      }
      opened = true;
    }
    if (chain.closed && (NEVER_AFTER_CLOSE.has(kind.case ?? "sessionOpened") || startsEffects(kind))) {
      problems.add("session_order", record, `${kind.case} comes after the session was closed`);
    }
    if (kind.case === "sessionClosed") chain.closed = true;
  }
  if (record.sequence === 0 && chain.name !== SYSTEM_CHAIN && !opened) {
    problems.add("session_order", record, "the chain does not begin by opening a session");
  }
}

function startsEffects(kind: DecodedRecord["entries"][number]["kind"]): boolean {
  return kind.case === "toolStarted" && kind.value.intent;
}
