import {
  blake3,
  type ContentItem,
  ContentPlace,
  ContentRole,
  commitTo,
  compileEncoder,
  fromBinary,
  KernelError,
  RecordContentSchema,
  type ToolError,
  ToolErrorSchema,
} from "@narthex/contracts";
import { amountList } from "../budget/amount-list.ts";
import type { Settlement } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { type Committed, commitContent } from "../ledger/commitment.ts";
import type { ContentDraft, EntryDraft } from "../ledger/record-draft.ts";
import type { StateChange } from "../ports.ts";
import { normaliseOutput } from "../result/normalise-output.ts";
import { placeBytes } from "../result/place-bytes.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { LiveSession } from "../session/live-session.ts";
import { logicalTimeMs } from "../session/logical-time.ts";
import { settleReserved } from "../session/release-budget.ts";
import type { ToolOutput } from "../tool/tool.ts";
import { dedupeRow } from "./dedupe-row.ts";
import { type Intent, intentRow, settledIntentRow } from "./intent.ts";

/** The result of a lost call, as its tool found it while reconciling. */
export interface ReconciledResult {
  readonly registered: RegisteredTool;
  readonly output: ToolOutput;
}

/** What became of a call. `killed`: its programs ended with the kernel, and may have changed the workspace. */
export interface IntentSettlement {
  readonly answer: Settlement["answer"] | "killed";
  readonly by: string;
}

/**
 * Settles a call with an unknown outcome: a person, the tool itself or the proven end of its programs determines what
 * became of it.
 */
export async function settleIntent(
  intent: Intent,
  settlement: IntentSettlement,
  kernel: KernelParts,
  found?: ReconciledResult,
): Promise<{ readonly recordIndex: number }> {
  const { sessionId, requestId } = intent;
  const live = await kernel.sessions.find(sessionId);
  if (live === undefined) throw new KernelError("SESSION_UNKNOWN", `there is no session \`${sessionId}\``);
  const spent = settlement.answer === "did_not_happen" ? {} : intent.reserved;
  const entries: EntryDraft[] = [{ case: "outcomeSettled", value: { requestId, ...settlement } }];
  const content: ContentDraft[] = [];
  if (found !== undefined) {
    const opened = await readCommitments(intent, kernel);
    const result = await commitFound(found, live.labels, kernel);
    content.push(...opened, result.item);
    entries.push(completedEntry(found, result, opened, amountList(spent)));
  }
  if (settlement.answer === "killed") {
    const opened = await readCommitments(intent, kernel);
    const error = commitContent({ role: ContentRole.ERROR, ...errorBytes() }, kernel.random);
    content.push(...opened, error.item);
    entries.push(killedEntry(error, opened, amountList(spent), live.labels));
  }
  release(live, requestId, spent);
  const above = settleReserved(live, intent.reserved, spent);
  const { index } = await kernel.ledger.append({
    chain: sessionId,
    requestId,
    entries: [...entries, ...above.entries],
    content,
    state: (recordIndex) => [
      ...rowsAfter(intent, settlement.answer, found, live, recordIndex),
      live.usageRow(),
      ...above.state(),
    ],
    logicalTimeMs: logicalTimeMs(intent.callNumber),
  });
  forgetUnsettled(intent, settlement.answer, found, live, index);
  kernel.responses.forget(sessionId, requestId);
  return { recordIndex: index };
}

function release(live: LiveSession, requestId: string, spent: Intent["reserved"]): void {
  const reservation = live.reservedByUnsettled.get(requestId);
  if (reservation !== undefined) live.account.settle(reservation, spent);
  live.reservedByUnsettled.delete(requestId);
}

/**
 * State rows after the settlement. A call that happened never runs again while its session lasts, neither by its id nor
 * by its dedupe key.
 */
function rowsAfter(
  intent: Intent,
  answer: IntentSettlement["answer"],
  found: ReconciledResult | undefined,
  live: LiveSession,
  recordIndex: number,
): StateChange[] {
  const { sessionId, requestId, requestDigest, dedupeKey } = intent;
  const isEnded = live.session.state !== "open";
  if (answer === "did_not_happen" || isEnded) return [settledIntentRow(sessionId, requestId)];
  const settled =
    found === undefined && answer === "happened"
      ? intentRow({ ...intent, settledIndex: recordIndex })
      : settledIntentRow(sessionId, requestId);
  return dedupeKey === "" ? [settled] : [settled, dedupeRow(sessionId, dedupeKey, { requestId, requestDigest })];
}

function forgetUnsettled(
  intent: Intent,
  answer: IntentSettlement["answer"],
  found: ReconciledResult | undefined,
  live: LiveSession,
  recordIndex: number,
): void {
  const { requestId, requestDigest, dedupeKey } = intent;
  live.unsettled.delete(requestId);
  if (answer === "did_not_happen") return;
  if (found === undefined && answer === "happened") live.settled.set(requestId, { requestDigest, recordIndex });
  if (dedupeKey !== "") live.dedupeEntries.set(dedupeKey, { requestId, requestDigest });
}

/** Request and last proof of the call, so that the outcome record can be read on its own. */
async function readCommitments(intent: Intent, kernel: KernelParts): Promise<ContentDraft[]> {
  const items = await intentItems(intent, kernel);
  const request = items.find((item) => item.role === ContentRole.REQUEST);
  const proof = items.findLast((item) => item.role === ContentRole.PROOF);
  return [
    ...(request === undefined ? [] : [{ ...request, place: ContentPlace.NONE }]),
    ...(proof === undefined ? [] : [{ ...proof, place: ContentPlace.ELSEWHERE, data: undefined }]),
  ];
}

/** Content of the call's records up to its intent, oldest first. */
async function intentItems(intent: Intent, kernel: KernelParts): Promise<ContentItem[]> {
  const indexes = [...new Set([intent.firstRecordIndex, intent.recordIndex])];
  const records = await Promise.all(indexes.map((index) => kernel.store.readRecord(index)));
  return records.flatMap((stored) =>
    stored === undefined ? [] : fromBinary(RecordContentSchema, stored.content).items,
  );
}

async function commitFound(
  found: ReconciledResult,
  labels: readonly string[],
  kernel: KernelParts,
): Promise<Committed> {
  const normalised = normaliseOutput(found.registered, found.output);
  if (!("bytes" in normalised)) throw new KernelError("INVALID_OUTPUT", "a reconciled result does not fit its schema");
  const placed = await placeBytes(normalised.bytes, blake3(normalised.bytes), kernel.contentStore);
  return commitContent({ role: ContentRole.RESULT, ...placed, labels }, kernel.random);
}

function completedEntry(
  found: ReconciledResult,
  result: Committed,
  opened: readonly ContentDraft[],
  spent: readonly { readonly dimension: string; readonly amount: number }[],
): EntryDraft {
  return {
    case: "toolCompleted",
    value: {
      success: true,
      requestCommitment: reopen(opened, ContentRole.REQUEST),
      proofCommitment: reopen(opened, ContentRole.PROOF),
      resultCommitment: result.commitment,
      resultSize: Number(result.item.size),
      resultType: found.registered.tool.resultType,
      spent,
      labels: result.item.labels,
    },
  };
}

const encodeError = compileEncoder<ToolError>(ToolErrorSchema);

const KILLED =
  "the kernel ended while the call ran, and its programs with it; what they had changed in the workspace by then stays";

function errorBytes(): { readonly digest: Uint8Array; readonly bytes: Uint8Array; readonly size: number } {
  const bytes = encodeError({ errorCode: "KILLED", message: KILLED, effectsPossible: true });
  return { digest: blake3(bytes), bytes, size: bytes.length };
}

/**
 * INVARIANT: from now on the call's own id and dedupe key get this error as their response; an equal call with another
 * id may run.
 */
function killedEntry(
  error: Committed,
  opened: readonly ContentDraft[],
  spent: readonly { readonly dimension: string; readonly amount: number }[],
  labels: readonly string[],
): EntryDraft {
  return {
    case: "toolFailed",
    value: {
      success: false,
      code: "KILLED",
      requestCommitment: reopen(opened, ContentRole.REQUEST),
      proofCommitment: reopen(opened, ContentRole.PROOF),
      errorCommitment: error.commitment,
      effectsPossible: true,
      retryable: false,
      spent,
      labels,
    },
  };
}

function reopen(items: readonly ContentDraft[], role: ContentRole): Uint8Array | undefined {
  const item = items.find((candidate) => candidate.role === role);
  return item?.digest && item.nonce ? commitTo(item.digest, item.nonce) : undefined;
}
