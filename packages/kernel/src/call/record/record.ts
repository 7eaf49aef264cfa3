import { ContentPlace, ContentRole, KernelError } from "@narthex/contracts";
import { amountList } from "../../budget/amount-list.ts";
import type { BudgetAmounts } from "../../budget/budget.ts";
import type { CallAnswer } from "../../journal/call-answer.ts";
import { settledIntentRow } from "../../journal/intent.ts";
import { commitContent } from "../../ledger/commitment.ts";
import type { EntryDraft } from "../../ledger/record-draft.ts";
import type { StateChange } from "../../ports.ts";
import type { LiveSession } from "../../session/live-session.ts";
import { logicalTimeMs } from "../../session/logical-time.ts";
import type { CallFrame, KeptCall } from "../call.ts";
import { Acknowledged, type Ending, Failed, isEnding, Repeated } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { answerOf } from "./answer-of.ts";
import { keepDedupeAnswer } from "./dedupe-rows.ts";
import { outcomeOf } from "./outcome-of.ts";
import { quarantineAfter } from "./quarantine-after.ts";
import { refuseUnsessioned } from "./refuse-unsessioned.ts";

/** Seals the outcome in the ledger and settles the budget. An answer exists only once this is durable. */
export async function record(frame: CallFrame, end: KeptCall | Ending, kernel: KernelParts): Promise<CallAnswer> {
  const { live } = frame.trail;
  if (live === undefined) return refuseUnsessioned(frame, end, kernel);
  try {
    return await write(frame, live, end, kernel);
  } catch (fault) {
    return unrecorded(frame, fault, kernel);
  }
}

async function write(
  frame: CallFrame,
  live: LiveSession,
  end: KeptCall | Ending,
  kernel: KernelParts,
): Promise<CallAnswer> {
  const { trail } = frame;
  const durationMs = Math.max(0, kernel.clock.monotonicMs() - trail.startedAtMs);
  const spent = settle(frame, end, durationMs);
  if (!isEnding(end)) commitResult(frame, end, kernel);
  if (trail.pending === 0 && trail.intentIndex === undefined) trail.add(bareInvocation(frame));
  const entry = entryFor(frame, end, durationMs, spent, kernel);
  if (entry !== undefined) trail.add(entry);
  if (!isEnding(end)) live.addLabels(end.labels);

  const answer = answerOf(frame, end, durationMs, spent);
  const state: StateChange[] = [live.usageRow()];
  if (trail.intentIndex !== undefined) state.push(settledIntentRow(live.id, trail.requestId));
  if (end instanceof Failed) state.push(...quarantineAfter(frame, live, end, kernel));
  const { index } = await kernel.ledger.append({
    chain: live.id,
    requestId: trail.requestId,
    ...trail.take(),
    state: [...state, ...keepDedupeAnswer(frame, answer)],
    ...(trail.callNumber > 0 && { logicalTimeMs: logicalTimeMs(trail.callNumber) }),
  });
  if (end instanceof Repeated) return answer;
  const recorded = { ...answer, recordIndex: index };
  if (trail.running !== undefined && trail.request !== undefined) {
    kernel.answers.remember(live.id, trail.requestId, { requestDigest: trail.request.digest, answer: recorded });
  }
  return recorded;
}

/** What the call used is spent; the rest of what it reserved is free again. */
function settle(frame: CallFrame, end: KeptCall | Ending, durationMs: number): BudgetAmounts {
  const { trail } = frame;
  const { live } = trail;
  if (live === undefined || trail.callNumber === 0) return {};
  const spent = {
    calls: 1,
    cost_units: trail.tool?.tool.price ?? 0,
    wall_ms: Math.ceil(durationMs),
    ...(!isEnding(end) && { stored_bytes: end.result.size }),
  };
  const [first, ...others] = trail.reservations.splice(0);
  if (first !== undefined) live.account.settle(first, spent);
  for (const reservation of others) live.account.settle(reservation, {});
  return spent;
}

function commitResult(frame: CallFrame, kept: KeptCall, kernel: KernelParts): void {
  const { result } = kept;
  const committed = commitContent(
    {
      role: ContentRole.RESULT,
      digest: result.digest,
      size: result.size,
      place: result.place,
      labels: kept.labels,
      ...(result.place === ContentPlace.ROW && { bytes: result.head }),
    },
    kernel.random,
  );
  frame.trail.attach(committed.item);
  frame.trail.result = committed;
  repeatCommitments(frame);
}

/** An outcome apart from its intent names request and proof again, so that it can be read on its own. */
function repeatCommitments(frame: CallFrame): void {
  const { trail } = frame;
  if (trail.intentIndex === undefined) return;
  if (trail.request !== undefined) trail.attach(trail.request.item);
  if (trail.proof !== undefined) trail.attach({ ...trail.proof.item, place: ContentPlace.ELSEWHERE, data: undefined });
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
  if (isEnding(end)) repeatCommitments(frame);
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
  kernel.log("error", "an outcome could not be recorded", { request: trail.requestId, cause: String(fault) });
  const failed = trail.effectsPossible
    ? new Failed("OUTCOME_UNKNOWN", "the call ran, but its outcome could not be recorded; look before repeating it")
    : new Failed("STORE_UNAVAILABLE", fault instanceof KernelError ? fault.message : "the ledger cannot be written");
  return { ...answerOf(frame, failed, 0, {}), final: false };
}

