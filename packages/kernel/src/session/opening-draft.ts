import { canonicalJson } from "@narthex/contracts";
import { leaseToJson } from "../lease/lease-to-json.ts";
import type { ContentDraft, EntryDraft, RecordDraft } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import type { LiveSession } from "./live-session.ts";
import { leaseRow, sessionRow } from "./session-rows.ts";

export interface OpeningFacts {
  /** Whether its workspace belonged to root and was handed over. */
  readonly isAdopted?: boolean;
  /** Content that the session may name from the start. */
  readonly granted?: readonly ContentDraft[];
  readonly state?: readonly StateChange[];
}

/** The first record of a session's chain, with its granted or delegated lease. */
export function openingDraft(
  live: LiveSession,
  { isAdopted = false, granted = [], state = [] }: OpeningFacts = {},
): RecordDraft {
  const { session } = live;
  return {
    chain: session.id,
    entries: [
      {
        case: "sessionOpened",
        value: {
          sessionId: session.id,
          tenant: session.tenant,
          user: session.user,
          agent: session.agent,
          workspace: session.workspace,
          workingDirectory: session.workingDirectory,
          seed: session.seed,
          leaseId: session.leaseId,
          expiresAtMs: session.expiresAtMs,
          parentSessionId: session.parentSessionId ?? "",
          level: session.level,
          adopted: isAdopted,
        },
      },
      leaseEntry(live),
      ...labelEntries(live),
    ],
    content: granted,
    state: [sessionRow(session), leaseRow(live.lease), live.usageRow(), ...state],
  };
}

function labelEntries({ labels }: LiveSession): EntryDraft[] {
  return labels.length === 0 ? [] : [{ case: "labelsAdopted", value: { labels } }];
}

function leaseEntry({ lease }: LiveSession): EntryDraft {
  const value = { leaseId: lease.id, lease: canonicalJson(leaseToJson(lease)) };
  return lease.parentId === undefined
    ? { case: "leaseGranted", value }
    : { case: "leaseDelegated", value: { ...value, parentLeaseId: lease.parentId } };
}
