import type { Entry, Outcome, PolicyDecision, RecordMessage } from "@narthex/contracts";

/** A record and its index among all records. */
export interface IndexedRecord {
  readonly index: number;
  readonly record: RecordMessage;
  /** What the call acts on, if this record tells. */
  readonly subject: string;
}

/** One finished call, assembled from its records. */
export interface WatchedCall {
  readonly timeMs: number;
  readonly sessionId: string;
  readonly requestId: string;
  readonly tool: string;
  /** Command, path or address that it was about; empty if unknown. */
  readonly subject: string;
  readonly decision: "allowed" | "denied" | "repeated" | "undecided";
  /** The rules that determined the decision. */
  readonly rules: readonly string[];
  /** Whether the rules required an approval. */
  readonly asks: boolean;
  readonly approver: string;
  readonly durationMs: number;
  readonly success: boolean;
  /** An error or rationale code; empty on success. */
  readonly code: string;
  readonly resultSize: number;
  readonly recordIndex: number;
}

interface PendingCall {
  tool: string;
  subject: string;
  policy: PolicyDecision | undefined;
  approver: string;
}

/** Maximum number of unfinished calls that are remembered; the oldest is dropped first. */
const MAX_PENDING = 10_000;

/** Takes records in order and returns a call when its outcome arrives. */
export function createCallWatcher(): (placed: IndexedRecord) => WatchedCall | undefined {
  const pending = new Map<string, PendingCall>();
  return (placed) => {
    const { record } = placed;
    const key = `${record.chain}/${record.requestId}`;
    const call = pending.get(key) ?? { tool: "?", subject: "", policy: undefined, approver: "" };
    call.subject ||= placed.subject;
    for (const entry of record.entries) {
      const outcome = readEntry(entry, call);
      if (outcome === undefined) continue;
      pending.delete(key);
      return finishCall(placed, call, outcome);
    }
    if (record.entries.some((entry) => entry.kind.case === "toolInvoked")) {
      pending.set(key, call);
      const [oldest] = pending.keys();
      if (pending.size > MAX_PENDING && oldest !== undefined) pending.delete(oldest);
    }
    return undefined;
  };
}

/** Notes the facts of an entry; returns the outcome if it is one. */
function readEntry({ kind }: Entry, call: PendingCall): Outcome | "repeated" | undefined {
  switch (kind.case) {
    case "toolInvoked":
      call.tool =
        kind.value.toolVersion === "" ? kind.value.toolName : `${kind.value.toolName}@${kind.value.toolVersion}`;
      return undefined;
    case "policyDecision":
      call.policy = kind.value;
      return undefined;
    case "approvalResolved":
      call.approver = kind.value.approver;
      return undefined;
    case "callRepeated":
      return "repeated";
    case "toolCompleted":
    case "toolFailed":
    case "toolTimedOut":
    case "toolDenied":
      return kind.value;
    default:
      return undefined;
  }
}

function finishCall({ record, index }: IndexedRecord, call: PendingCall, outcome: Outcome | "repeated"): WatchedCall {
  const known = {
    tool: call.tool,
    subject: call.subject,
    rules: call.policy?.ruleIds ?? [],
    asks: asksPerson(call.policy),
    approver: call.approver,
  };
  const place = {
    timeMs: Number(record.wallTimeMs),
    sessionId: record.chain,
    requestId: record.requestId,
    recordIndex: index,
  };
  if (outcome === "repeated") {
    return { ...place, ...known, decision: "repeated", durationMs: 0, success: true, code: "", resultSize: 0 };
  }
  const denied = call.policy?.allowed === false || record.entries.some(({ kind }) => kind.case === "toolDenied");
  return {
    ...place,
    ...known,
    rules: known.rules.length === 0 && outcome.ruleId !== "" ? [outcome.ruleId] : known.rules,
    decision: denied ? "denied" : call.policy === undefined ? "undecided" : "allowed",
    durationMs: Number(outcome.durationMs),
    success: outcome.success,
    code: outcome.code,
    resultSize: Number(outcome.resultSize),
  };
}

function asksPerson(policy: PolicyDecision | undefined): boolean {
  return policy?.allowed === true && (policy.approve === "human" || policy.approve === "console");
}
