import { amountList } from "../../budget/amount-list.ts";
import type { BudgetAmounts } from "../../budget/budget.ts";
import type { CallResponse } from "../../journal/call-response.ts";
import { settledIntentRow } from "../../journal/intent.ts";
import type { Fingerprint } from "../../journal/used-request-ids.ts";
import type { WorkspaceLabelUpdate } from "../../label/workspace-labels.ts";
import type { EntryDraft } from "../../ledger/record-draft.ts";
import type { StateChange } from "../../ports.ts";
import { describeFault } from "../../result/describe-fault.ts";
import { printedView } from "../../result/printed-view.ts";
import type { LiveSession } from "../../session/live-session.ts";
import { logicalTimeMs } from "../../session/logical-time.ts";
import type { IncomingCall, KeptCall } from "../call.ts";
import type { CallTrail } from "../call-trail.ts";
import { labelWrittenWorkspace, adoptWorkspaceLabels } from "../adopt-labels.ts";
import { Acknowledged, type Ending, Failed, isEnding, Repeated } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { createCallResponse } from "./create-call-response.ts";
import { commitFiles, commitOutcome } from "./commit-outcome.ts";
import { createDedupeEntryRows } from "./dedupe-entry-rows.ts";
import { keepReadings } from "./keep-readings.ts";
import { createOutcomeEntry } from "./outcome-entry.ts";
import { quarantineOnViolation } from "./quarantine-on-violation.ts";
import { refuseWithoutSession } from "./refuse-without-session.ts";
import { settleBudget } from "./settle-budget.ts";

/**
 * Seals the outcome in the ledger and settles the budget. A response exists only once this is durable.
 *
 * INVARIANT: resolves in every case, so that every caller that waits gets a response.
 */
export async function record(
  incoming: IncomingCall,
  end: KeptCall | Ending,
  kernel: KernelParts,
): Promise<CallResponse> {
  try {
    const { live } = incoming.trail;
    return live === undefined ? refuseWithoutSession(incoming, end, kernel) : await write(incoming, live, end, kernel);
  } catch (fault) {
    return recordFault(incoming, fault, kernel);
  }
}

async function recordFault(incoming: IncomingCall, fault: unknown, kernel: KernelParts): Promise<CallResponse> {
  const { trail } = incoming;
  try {
    if (trail.live === undefined || kernel.ledger.failure !== undefined) return unrecorded(incoming, fault, kernel);
    // Part of the outcome cannot be encoded for the ledger. The call must have an outcome all the same.
    const cause = describeFault(fault);
    kernel.logger("error", "an outcome could not be written down", { request: trail.requestId, cause });
    trail.dropUnwritten();
    const failed = new Failed("INTERNAL", "what the call ended with could not be recorded");
    return await write(incoming, trail.live, failed, kernel);
  } catch (second) {
    return unrecorded(incoming, second, kernel);
  }
}

/** Adds to a failure what the call's programs had printed until then. */
function withPrinted(answer: CallResponse, { outputs, tool }: CallTrail, kernel: KernelParts): CallResponse {
  const { result } = answer;
  if (result.case !== "error" || outputs.length === 0 || tool === undefined) return answer;
  const view = printedView(outputs, kernel.viewBytesOf(tool.tool));
  return { ...answer, result: { case: "error", value: { ...result.value, view } } };
}

async function write(
  incoming: IncomingCall,
  live: LiveSession,
  end: KeptCall | Ending,
  kernel: KernelParts,
): Promise<CallResponse> {
  const { trail } = incoming;
  const durationMs = Math.max(0, kernel.clock.monotonicMs() - trail.startedAtMs);
  if (end instanceof Failed && end.code === "PROTECTION_FAILED") {
    await kernel.programs?.markUnsafe?.(live.session.workspace, live.id, end.message);
  }
  if (trail.fileTrace !== undefined && !isEnding(end)) await keepReadings(trail, live, end, kernel);
  const spent = settleBudget(trail, live, end, durationMs);
  const labelling = joinOutcomeLabels(trail, live, kernel);
  if (trail.fileTrace !== undefined && !trail.fileTrace.isEmpty) await commitFiles(trail, trail.fileTrace, kernel);
  commitOutcome(trail, end, kernel);
  if (trail.pending === 0 && trail.firstIndex === undefined) trail.add(bareInvocation(incoming));
  if (labelling !== undefined) trail.add(labelling.entry);
  const entry = entryFor(incoming, end, durationMs, spent, kernel);
  if (entry !== undefined) trail.add(entry);

  const answer = withPrinted(createCallResponse(incoming, end, durationMs, spent), trail, kernel);
  const state = stateAfter(incoming, live, end, answer, kernel);
  if (labelling !== undefined) state.push(labelling.row());
  const bindsId = trail.callNumber > 0 || (end instanceof Repeated && end.matchedBy === "dedupe_key");
  // SECURITY: the record of a call that started nothing must not hide that of an earlier call with the same id.
  const foundById = bindsId || !kernel.usedRequestIds.mayHave(live.id, fingerprintOf(incoming, kernel));
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
  if (trail.programsIntentKey !== undefined) kernel.programs?.endCall?.(trail.programsIntentKey);
  if (end instanceof Repeated) {
    if (bindsId) kernel.usedRequestIds.add(live.id, fingerprintOf(incoming, kernel));
    return answer;
  }
  for (const { digest, bytes } of trail.unstoredContent) {
    if (bytes !== undefined) kernel.heldContent.add(live.id, digest, bytes, trail.labels);
  }
  const recorded = { ...answer, recordIndex: index };
  if (bindsId && trail.request !== undefined) {
    kernel.responses.remember(live.id, trail.requestId, { requestDigest: trail.request.digest, response: recorded });
  }
  return recorded;
}

/**
 * SECURITY: the output of a failed call, and what it wrote before it failed, is labelled as its result would have been.
 */
function joinOutcomeLabels(trail: CallTrail, live: LiveSession, kernel: KernelParts): WorkspaceLabelUpdate | undefined {
  const { workspace } = live.session;
  adoptWorkspaceLabels(trail, workspace, kernel);
  live.addLabels(trail.labels);
  if (trail.callNumber > 0) trail.addLabels(live.labels);
  return labelWrittenWorkspace(trail, workspace, live.labels, kernel);
}

function fingerprintOf({ trail }: IncomingCall, kernel: KernelParts): Fingerprint {
  return trail.fingerprint ?? kernel.usedRequestIds.fingerprint(trail.requestId);
}

function stateAfter(
  incoming: IncomingCall,
  live: LiveSession,
  end: KeptCall | Ending,
  answer: CallResponse,
  kernel: KernelParts,
): StateChange[] {
  const state: StateChange[] = [live.usageRow()];
  if (incoming.trail.intentIndex !== undefined) state.push(settledIntentRow(live.id, incoming.trail.requestId));
  if (end instanceof Failed) state.push(...quarantineOnViolation(incoming, live, end, kernel));
  state.push(...createDedupeEntryRows(incoming, answer));
  return state;
}

function entryFor(
  incoming: IncomingCall,
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
  return createOutcomeEntry(incoming, end, { durationMs: Math.round(durationMs), spent: amountList(spent) }, kernel);
}

/**
 * Creates the entry of a request that ended before it was bound to a tool, so that its record names the requested tool.
 */
function bareInvocation(incoming: IncomingCall): EntryDraft {
  const { trail } = incoming;
  return {
    case: "toolInvoked",
    value: { toolName: trail.toolName, toolVersion: trail.toolVersion, door: incoming.door },
  };
}

/**
 * Creates the response for a call that could not be recorded. The record may or may not be on disk: after an effect the
 * outcome is unknown.
 */
function unrecorded(incoming: IncomingCall, fault: unknown, kernel: KernelParts): CallResponse {
  const { trail } = incoming;
  const { requestId } = trail;
  kernel.logger("error", "an outcome could not be recorded", { request: requestId, cause: describeFault(fault) });
  if (trail.intentIndex === undefined) {
    const message = kernel.ledger.failure?.message ?? "the call could not be recorded";
    return createCallResponse(incoming, new Failed("STORE_UNAVAILABLE", message), 0, {});
  }
  const failed = new Failed(
    "OUTCOME_UNKNOWN",
    "the call ran, but its outcome could not be recorded; look before repeating it",
    { isOutcomeLost: true },
  );
  return { ...createCallResponse(incoming, failed, 0, {}), isFinal: false };
}
