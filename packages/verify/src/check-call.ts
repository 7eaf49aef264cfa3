import { Call, type CallStep } from "./call.ts";
import type { Chain } from "./chain.ts";
import type { DecodedEntry, DecodedRecord, EntryKind, EntryOf } from "./ledger-messages.ts";
import type { ProblemList } from "./problem-list.ts";
import { sameSlices } from "./wire/slice.ts";

type Kind = EntryKind;
type CallEntry = Extract<DecodedEntry, { case: CallKind }>;
type CallKind = (typeof CALL_KINDS)[number];

const FAILURES = ["toolFailed", "toolTimedOut", "toolDenied"] as const;
const CALL_KINDS = [
  "toolInvoked",
  "capabilityCheck",
  "policyDecision",
  "approvalRequested",
  "approvalResolved",
  "toolStarted",
  "toolCompleted",
  ...FAILURES,
  "callRepeated",
] as const satisfies readonly Kind[];
const IS_CALL_KIND: ReadonlySet<string> = new Set(CALL_KINDS);

/** SPEC: docs/formats/ledger.md, "The entries of one call". */
const FOLLOWS: { readonly [Step in CallStep]: ReadonlySet<CallKind> } = {
  begun: new Set(["toolInvoked"]),
  invoked: new Set(["capabilityCheck", ...FAILURES]),
  checked: new Set(["policyDecision", ...FAILURES]),
  permitted: new Set([
    "policyDecision",
    "approvalRequested",
    "approvalResolved",
    "toolStarted",
    "toolCompleted",
    "callRepeated",
    ...FAILURES,
  ]),
  asked: new Set(["approvalResolved", ...FAILURES]),
  approved: new Set(["capabilityCheck", "toolStarted", ...FAILURES]),
  started: new Set(["capabilityCheck", "toolCompleted", ...FAILURES]),
  refused: new Set(FAILURES),
  settled: new Set(["toolCompleted", ...FAILURES]),
  ended: new Set(),
};

/**
 * The first decision, one after an approval, and one after the tool found a different path than the one decided on;
 * each of them about every path and host, at most a hundred, or two with a second one about a protected path. In
 * addition, one about each host contacted while the call ran, at most a hundred.
 */
const MAX_DECISIONS = 400;

/**
 * Checks that the entries of a call are in order and end in exactly one outcome. Returns the call of this record in its
 * state after the record; undefined if the record belongs to no call, or to one whose beginning is unknown.
 */
export function checkCall(chain: Chain, record: DecodedRecord, problems: ProblemList): Call | undefined {
  let call: Call | undefined;
  for (const { kind } of record.entries) {
    if (kind.case === "standingApprovalRevoked") chain.revokeStanding(kind.value.standingId);
    if (kind.case === "approvalDeclined" && chain.approvalState(kind.value.approvalId) !== "open" && !chain.damaged) {
      problems.add("approval_missing", record, "what a client declined is no question that is open");
    }
    if (kind.case === "approvalResolved" && record.requestId === "") {
      const wrong = applyRecordedResolution(chain, kind.value);
      if (wrong !== undefined) problems.add(wrong.code, record, wrong.message);
      continue;
    }
    if (kind.case === "outcomeSettled") call ??= applySettlement(chain, record, kind.value.requestId, problems);
    if (kind.case === "egressRefused") resumeAfterHostRefusal(call);
    if (!isCallEntry(kind)) continue;
    if (call === undefined) {
      call = kind.case === "toolInvoked" ? new Call() : chain.openCall(record.requestId);
      if (call === undefined) {
        reportUnopened(chain, record, kind.case, problems);
        return undefined;
      }
    }
    const wrong = advance(chain, call, kind, record);
    if (wrong !== undefined) problems.add(wrong.code, record, wrong.message);
  }
  if (call !== undefined) keepOrForget(chain, record, call, problems);
  return call;
}

/** The refusal concerns one host contacted while the call ran, and not the call itself. */
function resumeAfterHostRefusal(call: Call | undefined): void {
  if (call?.started === true && call.step === "refused") call.step = "started";
}

function isCallEntry(kind: DecodedEntry): kind is CallEntry {
  return kind.case !== undefined && IS_CALL_KIND.has(kind.case);
}

interface CallFault {
  readonly code: "call_order" | "approval_missing" | "outcome_contradicts";
  readonly message: string;
}

function advance(chain: Chain, call: Call, entry: CallEntry, record: DecodedRecord): CallFault | undefined {
  const from = call.step;
  call.step = stepAfter(entry);
  // A running call gets a new decision for every host that it contacts.
  const isHost = call.started && from === "permitted" && entry.case === "capabilityCheck";
  // A call that needs an approval is decided again if it waited for a rule that was just added.
  const isRuled = !call.started && call.needsApproval && from === "permitted" && entry.case === "capabilityCheck";
  if (!isHost && !isRuled && !FOLLOWS[from].has(entry.case))
    return { code: "call_order", message: `${entry.case} cannot follow when a call is ${from}` };
  switch (entry.case) {
    case "toolInvoked":
      call.requestCommitment = entry.value.requestCommitment;
      return undefined;
    case "policyDecision":
      return applyDecision(call, from, entry.value);
    case "approvalRequested":
      chain.requestApproval(entry.value.approvalId);
      return undefined;
    case "approvalResolved":
      return applyResolution(chain, call, entry.value);
    case "toolStarted":
      return started(chain, call, entry.value);
    case "callRepeated":
      return applyRepeat(call, entry.value, record);
    case "toolCompleted":
    case "toolFailed":
    case "toolTimedOut":
    case "toolDenied":
      return applyOutcome(call, from, entry);
    default:
      return undefined;
  }
}

function stepAfter(entry: CallEntry): CallStep {
  switch (entry.case) {
    case "toolInvoked":
      return "invoked";
    case "capabilityCheck":
      return entry.value.granted ? "checked" : "refused";
    case "policyDecision":
      return entry.value.allowed || entry.value.observedOnly ? "permitted" : "refused";
    case "approvalRequested":
      return "asked";
    case "approvalResolved":
      return entry.value.answer === "approved" ? "approved" : "refused";
    case "toolStarted":
      return "started";
    default:
      return "ended";
  }
}

function applyDecision(call: Call, from: CallStep, decision: EntryOf<"policyDecision">): CallFault | undefined {
  call.decisions++;
  const asks = !decision.observedOnly && (decision.approve === "human" || decision.approve === "console");
  // If there are several decisions about one call, each of them can require an approval.
  call.needsApproval = asks || (from === "permitted" && call.needsApproval);
  if (decision.proofCommitment.length > 0) call.proofCommitment = decision.proofCommitment;
  if (call.decisions <= MAX_DECISIONS) return undefined;
  return { code: "call_order", message: `the call was decided more than ${MAX_DECISIONS} times` };
}

/**
 * Applies a decision about an approval request as it arrived at a door: in its own record, independent of any waiting
 * call.
 */
function applyRecordedResolution(
  chain: Chain,
  { approvalId, answer, scope, standingId }: EntryOf<"approvalResolved">,
): CallFault | undefined {
  const state = chain.approvalState(approvalId);
  if (answer === "approved") chain.grantApproval(approvalId);
  else chain.closeApproval(approvalId);
  if (answer === "approved" && scope === "session") chain.addStanding(standingId);
  // A request that was already granted can only time out or be withdrawn.
  const fits = state === "open" || (state === "given" && (answer === "timed_out" || answer === "withdrawn"));
  return fits || chain.damaged ? undefined : APPROVAL_NOT_REQUESTED;
}

const APPROVAL_NOT_REQUESTED: CallFault = {
  code: "approval_missing",
  message: "the approval that was given is not one that was asked for, or is used up",
};

/** Applies a decision about an approval request in the record of the call. */
function applyResolution(chain: Chain, call: Call, answer: EntryOf<"approvalResolved">): CallFault | undefined {
  const { approvalId } = answer;
  const state = chain.approvalState(approvalId);
  if (answer.answer !== "approved") {
    if (answer.answer !== "pending" && state === "open") chain.closeApproval(approvalId);
    return undefined;
  }
  call.approved = true;
  if (state !== undefined) call.approvalId = approvalId;
  return state !== undefined || chain.isStanding(answer.standingId) || chain.damaged
    ? undefined
    : APPROVAL_NOT_REQUESTED;
}

function started(chain: Chain, call: Call, start: EntryOf<"toolStarted">): CallFault | undefined {
  call.started = true;
  // One approval covers one call.
  if (call.approvalId !== "") chain.closeApproval(call.approvalId);
  if (start.intent) call.intent = true;
  if (!call.needsApproval || call.approved) return undefined;
  return { code: "approval_missing", message: "the tool was started without the approval its policy asks for" };
}

function applyRepeat(call: Call, repeat: EntryOf<"callRepeated">, record: DecodedRecord): CallFault | undefined {
  if (call.started) return { code: "call_order", message: "a call that was started cannot be a repeat" };
  if (repeat.firstRecordIndex < record.index) return undefined;
  return { code: "outcome_contradicts", message: `a repeat cannot name the later record ${repeat.firstRecordIndex}` };
}

function applyOutcome(call: Call, from: CallStep, entry: OutcomeEntry): CallFault | undefined {
  const { success, code, requestCommitment, proofCommitment, resultCommitment } = entry.value;
  const completed = entry.case === "toolCompleted";
  if (completed && from === "permitted" && !call.started) {
    return { code: "call_order", message: "the tool completed without having been started" };
  }
  if (success !== completed || (code === "") !== completed || (completed && resultCommitment.length === 0)) {
    return { code: "outcome_contradicts", message: "the outcome says of itself what its kind rules out" };
  }
  if (sameSlices(requestCommitment, call.requestCommitment) && sameSlices(proofCommitment, call.proofCommitment)) {
    return undefined;
  }
  return { code: "outcome_contradicts", message: "the outcome is that of another request or another decision" };
}

type OutcomeEntry = Extract<CallEntry, { case: "toolCompleted" | (typeof FAILURES)[number] }>;

function keepOrForget(chain: Chain, record: DecodedRecord, call: Call, problems: ProblemList): void {
  const open = chain.openCall(record.requestId);
  if (call.step === "ended") {
    // A repeat, or a refusal under an id that is still in use, does not change the first call.
    if (open === call) chain.forgetCall(record.requestId);
    return;
  }
  // A call that was only waiting when its kernel stopped is simply made again; an intent must be settled first.
  if (open !== undefined && open !== call && open.intent && open.step !== "settled") {
    problems.add("call_order", record, "a call was opened under the id of an intent that has no outcome yet");
  }
  // Copied, so that a few bytes do not keep the record's whole row in memory.
  call.requestCommitment = call.requestCommitment.copy();
  call.proofCommitment = call.proofCommitment.copy();
  chain.keepCall(record.requestId, call);
}

function applySettlement(
  chain: Chain,
  record: DecodedRecord,
  requestId: string,
  problems: ProblemList,
): Call | undefined {
  const call = chain.openCall(requestId);
  if (call?.intent === true && call.step !== "settled") {
    call.step = "settled";
    return call;
  }
  if (!chain.damaged) problems.add("call_unopened", record, "what was settled is no call without an outcome");
  return undefined;
}

function reportUnopened(chain: Chain, record: DecodedRecord, kind: string, problems: ProblemList): void {
  if (chain.damaged) return;
  problems.add("call_unopened", record, `${kind} belongs to a call that was never opened, or has ended`);
}
