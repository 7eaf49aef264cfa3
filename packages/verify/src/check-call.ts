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
 * The first decision, one after an approval, one after the tool found another path than the one decided on; each of them
 * about every path and host, at most a hundred, or two with a second one about a protected path. And one about each host
 * that turned up while it ran, at most a hundred.
 */
const MAX_DECISIONS = 400;

/**
 * The entries of a call come in their order and end in exactly one outcome. Answers the call this record belongs to,
 * as it stands after the record; undefined if it belongs to none or to one whose beginning is not known.
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

/** What was refused is one host that turned up while the call ran, and not the call. */
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
  // A call that runs is decided on again for every host that turns up.
  const isHost = call.started && from === "permitted" && entry.case === "capabilityCheck";
  // One that needs a person is decided again if it waited for a rule that somebody had just given.
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
  // Of two decisions about one call, either can ask.
  call.needsApproval = asks || (from === "permitted" && call.needsApproval);
  if (decision.proofCommitment.length > 0) call.proofCommitment = decision.proofCommitment;
  if (call.decisions <= MAX_DECISIONS) return undefined;
  return { code: "call_order", message: `the call was decided more than ${MAX_DECISIONS} times` };
}

/** An answer as it was given at a door: a record of its own, whoever waits for it. */
function applyRecordedResolution(
  chain: Chain,
  { approvalId, answer, scope, standingId }: EntryOf<"approvalResolved">,
): CallFault | undefined {
  const state = chain.approvalState(approvalId);
  if (answer === "approved") chain.grantApproval(approvalId);
  else chain.closeApproval(approvalId);
  if (answer === "approved" && scope === "session") chain.addStanding(standingId);
  // What was answered once is only taken back.
  const fits = state === "open" || (state === "given" && (answer === "timed_out" || answer === "withdrawn"));
  return fits || chain.damaged ? undefined : APPROVAL_NOT_REQUESTED;
}

const APPROVAL_NOT_REQUESTED: CallFault = {
  code: "approval_missing",
  message: "the approval that was given is not one that was asked for, or is used up",
};

/** An answer as a call has it. */
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
  // One yes is one call.
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
    // A repeat, or a refusal under an id that is still in use, leaves the first call as it is.
    if (open === call) chain.forgetCall(record.requestId);
    return;
  }
  // A call that only waited when its kernel stopped is simply made again; an intent has to be settled first.
  if (open !== undefined && open !== call && open.intent && open.step !== "settled") {
    problems.add("call_order", record, "a call was opened under the id of an intent that has no outcome yet");
  }
  // The record's row is not kept alive by a few bytes of it.
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
