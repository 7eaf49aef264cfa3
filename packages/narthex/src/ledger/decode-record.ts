import { type Entry, EntrySchema, type JsonObject, type Outcome, toHex } from "@narthex/contracts";
import type { StoredRecord } from "@narthex/kernel";
import { recordSubject } from "@narthex/server/call-subject";
import { summariseRecord } from "../commands/record-summary.ts";
import { decodeRecord as readRecord, entryName, type RecordView } from "../commands/record-view.ts";
import { messageToJson } from "../terminal/message-json.ts";
import type { DecodedEntry, DecodedRecord, EntryKind, RecordedCall } from "./decoded-record.ts";

/** What earlier records say about calls that have not ended. */
export type PendingCalls = Map<string, PendingCall>;

/** The oldest is dropped first. */
const MAX_PENDING_CALLS = 10_000;

interface PendingCall {
  readonly tool: string;
  readonly decision: RecordedCall["decision"];
  readonly rules: readonly string[];
  readonly approver: string | undefined;
}

/** Decisions by the outcome of an approval request; every other outcome allows nothing. */
const DECISIONS: ReadonlyMap<string, RecordedCall["decision"]> = new Map([
  ["approved", "allowed"],
  // The caller was told to retry, or no longer waits.
  ["pending", "asked"],
  ["withdrawn", "asked"],
] as const);

/** Converts a record to plain values, and notes what it says about a call for later records. */
export function decodeRecord(stored: StoredRecord, earlier: PendingCalls): DecodedRecord {
  const view = readRecord({
    ...stored,
    $typeName: "narthex.v1.LedgerRecord",
    index: BigInt(stored.index),
    subject: "",
  });
  const { record, hash, index } = view;
  return {
    index,
    hash: toHex(hash),
    time: new Date(Number(record.wallTimeMs)),
    session: record.chain,
    requestId: record.requestId === "" ? undefined : record.requestId,
    call: readCall(view, earlier),
    entries: record.entries.map(toEntry),
    summary: summariseRecord({ record, subject: recordSubject(record, view.content) }),
  };
}

/** Whether the record tells how a call ended but no known record names its tool. */
export function isMissingCallStart({ call }: DecodedRecord): boolean {
  return call?.outcome !== undefined && call.tool === undefined;
}

function toEntry(entry: Entry): DecodedEntry {
  const [fields] = Object.values(messageToJson(EntrySchema, entry));
  // Safe cast: an entry holds one message, and a message encodes as an object.
  return { kind: entryName(entry) as EntryKind, fields: fields as JsonObject };
}

function readCall({ record }: RecordView, earlier: PendingCalls): RecordedCall | undefined {
  const key = `${record.chain}/${record.requestId}`;
  const known = earlier.get(key);
  let { tool, decision, rules, approver }: Partial<PendingCall> & Pick<PendingCall, "rules"> = known ?? { rules: [] };
  let ending: CallOutcome = {};
  let isOfCall = false;
  for (const { kind } of record.entries) {
    switch (kind.case) {
      case "toolInvoked":
        isOfCall = true;
        tool = kind.value.toolVersion === "" ? kind.value.toolName : `${kind.value.toolName}@${kind.value.toolVersion}`;
        break;
      case "policyDecision":
        isOfCall = true;
        rules = kind.value.ruleIds;
        decision = kind.value.allowed ? "allowed" : "denied";
        break;
      case "approvalRequested":
        decision = "asked";
        break;
      case "approvalResolved":
        approver = kind.value.approver === "" ? undefined : kind.value.approver;
        decision = DECISIONS.get(kind.value.answer) ?? "denied";
        break;
      case "toolCompleted":
      case "toolFailed":
      case "toolTimedOut":
      case "toolDenied":
        isOfCall = true;
        ending = readOutcome(kind.value, kind.case === "toolDenied");
        if (kind.case === "toolDenied") decision = "denied";
        if (rules.length === 0 && kind.value.ruleId !== "") rules = [kind.value.ruleId];
        break;
      case "callRepeated":
        isOfCall = true;
        ending = { outcome: "repeated" };
        break;
      default:
    }
  }
  if (!isOfCall && known === undefined) return undefined;
  if (ending.outcome !== undefined) earlier.delete(key);
  else if (tool !== undefined) remember(earlier, key, { tool, decision, rules, approver });
  const { outcome, code, durationMs, resultBytes } = ending;
  return { tool, decision, rules, approver, outcome, code, durationMs, resultBytes };
}

function remember(earlier: PendingCalls, key: string, call: PendingCall): void {
  earlier.set(key, call);
  const [oldest] = earlier.keys();
  if (earlier.size > MAX_PENDING_CALLS && oldest !== undefined) earlier.delete(oldest);
}

type CallOutcome = Partial<Pick<RecordedCall, "outcome" | "code" | "durationMs" | "resultBytes">>;

function readOutcome({ success, code, durationMs, resultSize }: Outcome, isDenied: boolean): CallOutcome {
  if (success) return { outcome: "success", durationMs: Number(durationMs), resultBytes: Number(resultSize) };
  return { outcome: isDenied ? "denied" : "error", code, durationMs: Number(durationMs) };
}
