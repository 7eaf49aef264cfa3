import { amountList } from "../../budget/amount-list.ts";
import type { BudgetAmounts } from "../../budget/budget.ts";
import type { CallAnswer } from "../../journal/call-answer.ts";
import { settledIntentRow } from "../../journal/intent.ts";
import type { Fingerprint } from "../../journal/request-memory.ts";
import type { WorkspaceLabelling } from "../../label/workspace-labels.ts";
import type { EntryDraft } from "../../ledger/record-draft.ts";
import type { StateChange } from "../../ports.ts";
import { describeFault } from "../../result/describe-fault.ts";
import { printedView } from "../../result/printed-view.ts";
import type { LiveSession } from "../../session/live-session.ts";
import { logicalTimeMs } from "../../session/logical-time.ts";
import type { CallFrame, KeptCall } from "../call.ts";
import type { CallTrail } from "../call-trail.ts";
import { labelWritten, takeOnWorkspace } from "../take-on-labels.ts";
import { Acknowledged, type Ending, Failed, isEnding, Repeated } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { answerOf } from "./answer-of.ts";
import { commitFiles, commitOutcome } from "./commit-outcome.ts";
import { keepDedupeAnswer } from "./dedupe-rows.ts";
import { keepReadings } from "./keep-readings.ts";
import { outcomeOf } from "./outcome-of.ts";
import { quarantineAfter } from "./quarantine-after.ts";
import { refuseUnsessioned } from "./refuse-unsessioned.ts";
import { settleBudget } from "./settle-budget.ts";

/**
 * Seals the outcome in the ledger and settles the budget. An answer exists only once this is durable.
 *
 * INVARIANT: resolves whatever happens, so that everyone who waits for the call is answered.
 */
export async function record(frame: CallFrame, end: KeptCall | Ending, kernel: KernelParts): Promise<CallAnswer> {
  try {
    const { live } = frame.trail;
    return live === undefined ? refuseUnsessioned(frame, end, kernel) : await write(frame, live, end, kernel);
  } catch (fault) {
    return recordFault(frame, fault, kernel);
  }
}

async function recordFault(frame: CallFrame, fault: unknown, kernel: KernelParts): Promise<CallAnswer> {
  const { trail } = frame;
  try {
    if (trail.live === undefined || kernel.ledger.failure !== undefined) return unrecorded(frame, fault, kernel);
    // Something in it has no form in the ledger. The call has an outcome all the same.
    const cause = describeFault(fault);
    kernel.log("error", "an outcome could not be written down", { request: trail.requestId, cause });
    trail.dropUnwritten();
    const failed = new Failed("INTERNAL", "what the call ended with could not be recorded");
    return await write(frame, trail.live, failed, kernel);
  } catch (second) {
    return unrecorded(frame, second, kernel);
  }
}

/** A failure together with what the call's programs had printed until then. */
function withPrinted(answer: CallAnswer, { outputs, tool }: CallTrail, kernel: KernelParts): CallAnswer {
  const { result } = answer;
  if (result.case !== "error" || outputs.length === 0 || tool === undefined) return answer;
  const view = printedView(outputs, kernel.viewBytesOf(tool.tool));
  return { ...answer, result: { case: "error", value: { ...result.value, view } } };
}

async function write(
  frame: CallFrame,
  live: LiveSession,
  end: KeptCall | Ending,
  kernel: KernelParts,
): Promise<CallAnswer> {
  const { trail } = frame;
  const durationMs = Math.max(0, kernel.clock.monotonicMs() - trail.startedAtMs);
  if (end instanceof Failed && end.code === "PROTECTION_FAILED") {
    await kernel.programs?.distrust?.(live.session.workspace, live.id, end.message);
  }
  if (trail.files !== undefined && !isEnding(end)) await keepReadings(trail, live, end, kernel);
  const spent = settleBudget(trail, live, end, durationMs);
  const labelling = joinOutcomeLabels(trail, live, kernel);
  if (trail.files !== undefined && !trail.files.isEmpty) await commitFiles(trail, trail.files, kernel);
  commitOutcome(trail, end, kernel);
  if (trail.pending === 0 && trail.firstIndex === undefined) trail.add(bareInvocation(frame));
  if (labelling !== undefined) trail.add(labelling.entry);
  const entry = entryFor(frame, end, durationMs, spent, kernel);
  if (entry !== undefined) trail.add(entry);

  const answer = withPrinted(answerOf(frame, end, durationMs, spent), trail, kernel);
  const state = stateAfter(frame, live, end, answer, kernel);
  if (labelling !== undefined) state.push(labelling.row());
  const bindsId = trail.callNumber > 0 || (end instanceof Repeated && end.matchedBy === "dedupe_key");
  // SECURITY: what started nothing must not stand before the record of what an id started earlier.
  const foundById = bindsId || !kernel.requests.mayHave(live.id, fingerprintOf(frame, kernel));
  const { labels } = live;
  const { index } = await kernel.ledger.append({
    chain: live.id,
    requestId: trail.requestId,
    foundById,
    state,
    ...trail.take(),
    ...(trail.callNumber > 0 && { logicalTimeMs: logicalTimeMs(trail.callNumber) }),
  });
  live.noteDurableLabels(labels);
  labelling?.noteDurable();
  if (trail.programsNotedAs !== undefined) kernel.programs?.endCall?.(trail.programsNotedAs);
  if (end instanceof Repeated) {
    if (bindsId) kernel.requests.add(live.id, fingerprintOf(frame, kernel));
    return answer;
  }
  for (const { digest, bytes } of trail.held) {
    if (bytes !== undefined) kernel.held.add(live.id, digest, bytes, trail.labels);
  }
  const recorded = { ...answer, recordIndex: index };
  if (bindsId && trail.request !== undefined) {
    kernel.answers.remember(live.id, trail.requestId, { requestDigest: trail.request.digest, answer: recorded });
  }
  return recorded;
}

/** SECURITY: what a failed call printed, or wrote before it failed, is labelled like the result it does not have. */
function joinOutcomeLabels(trail: CallTrail, live: LiveSession, kernel: KernelParts): WorkspaceLabelling | undefined {
  const { workspace } = live.session;
  takeOnWorkspace(trail, workspace, kernel);
  live.addLabels(trail.labels);
  if (trail.callNumber > 0) trail.addLabels(live.labels);
  return labelWritten(trail, workspace, live.labels, kernel);
}

function fingerprintOf({ trail }: CallFrame, kernel: KernelParts): Fingerprint {
  return trail.fingerprint ?? kernel.requests.fingerprint(trail.requestId);
}

function stateAfter(
  frame: CallFrame,
  live: LiveSession,
  end: KeptCall | Ending,
  answer: CallAnswer,
  kernel: KernelParts,
): StateChange[] {
  const state: StateChange[] = [live.usageRow()];
  if (frame.trail.intentIndex !== undefined) state.push(settledIntentRow(live.id, frame.trail.requestId));
  if (end instanceof Failed) state.push(...quarantineAfter(frame, live, end, kernel));
  state.push(...keepDedupeAnswer(frame, answer));
  return state;
}

function entryFor(
  frame: CallFrame,
  end: KeptCall | Ending,
  durationMs: number,
  spent: BudgetAmounts,
  kernel: KernelParts,
): EntryDraft | undefined {
  if (end instanceof Acknowledged) return undefined;
  if (end instanceof Repeated) {
    return {
      case: "callRepeated",
      value: {
        firstRecordIndex: end.answer.recordIndex ?? 0,
        matchedBy: end.matchedBy,
        firstRequestId: end.firstRequestId,
      },
    };
  }
  return outcomeOf(frame, end, { durationMs: Math.round(durationMs), spent: amountList(spent) }, kernel);
}

/** A request that ended before it was bound to a tool still says what it asked for. */
function bareInvocation(frame: CallFrame): EntryDraft {
  const { trail } = frame;
  return {
    case: "toolInvoked",
    value: { toolName: trail.toolName, toolVersion: trail.toolVersion, door: frame.door },
  };
}

/** The record may or may not be on disk: after an effect nobody can say what happened. */
function unrecorded(frame: CallFrame, fault: unknown, kernel: KernelParts): CallAnswer {
  const { trail } = frame;
  const { requestId } = trail;
  kernel.log("error", "an outcome could not be recorded", { request: requestId, cause: describeFault(fault) });
  if (trail.intentIndex === undefined) {
    const message = kernel.ledger.failure?.message ?? "the call could not be recorded";
    return answerOf(frame, new Failed("STORE_UNAVAILABLE", message), 0, {});
  }
  const failed = new Failed(
    "OUTCOME_UNKNOWN",
    "the call ran, but its outcome could not be recorded; look before repeating it",
    { isOutcomeLost: true },
  );
  return { ...answerOf(frame, failed, 0, {}), final: false };
}
