import {
  blake3,
  type ContentItem,
  ContentPlace,
  ContentRole,
  commitTo,
  fromBinary,
  KernelError,
  RecordContentSchema,
} from "@narthex/contracts";
import { amountList } from "../budget/amount-list.ts";
import type { Settlement } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { type Committed, commitContent } from "../ledger/commitment.ts";
import type { ContentDraft, EntryDraft } from "../ledger/record-draft.ts";
import { normaliseOutput } from "../result/normalise-output.ts";
import { placeBytes } from "../result/place-bytes.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import { logicalTimeMs } from "../session/logical-time.ts";
import type { ToolOutput } from "../tool/tool.ts";
import { type Intent, settledIntentRow } from "./intent.ts";

/** What a reconciling tool found that its lost call had returned. */
export interface FoundResult {
  readonly registered: RegisteredTool;
  readonly output: ToolOutput;
}

/** Ends an unknown outcome: a person, or the tool itself, says whether the effect happened. */
export async function settleIntent(
  intent: Intent,
  settlement: Pick<Settlement, "answer" | "by">,
  kernel: KernelParts,
  found?: FoundResult,
): Promise<{ readonly recordIndex: number }> {
  const { sessionId, requestId } = intent;
  const live = await kernel.sessions.find(sessionId);
  if (live === undefined) throw new KernelError("SESSION_UNKNOWN", `there is no session \`${sessionId}\``);
  const happened = settlement.answer === "happened";
  const spent = happened ? intent.reserved : {};
  const reservation = live.reservedByUnsettled.get(requestId);
  if (reservation !== undefined) live.account.settle(reservation, spent);
  live.reservedByUnsettled.delete(requestId);

  const opened = await readIntentContent(intent, kernel);
  const entries: EntryDraft[] = [{ case: "outcomeSettled", value: { requestId, ...settlement } }];
  const content: ContentDraft[] = [...opened];
  if (found !== undefined) {
    const result = await commitFound(found, kernel);
    content.push(result.item);
    entries.push(completedEntry(found, result, opened, amountList(spent)));
  }
  await kernel.ledger.loadChain(sessionId);
  const { index } = await kernel.ledger.append({
    chain: sessionId,
    requestId,
    entries,
    content,
    state: [settledIntentRow(sessionId, requestId), live.usageRow()],
    logicalTimeMs: logicalTimeMs(intent.callNumber),
  });
  live.unsettled.delete(requestId);
  kernel.answers.forget(sessionId, requestId);
  if (live.session.state !== "open") kernel.ledger.forgetChain(sessionId);
  return { recordIndex: index };
}

/** Request and proof of the intent, so that the settlement can be read on its own. */
async function readIntentContent(intent: Intent, kernel: KernelParts): Promise<ContentDraft[]> {
  const items = await intentItems(intent, kernel);
  return items
    .filter((item) => item.role === ContentRole.REQUEST || item.role === ContentRole.PROOF)
    .map((item) => ({
      ...item,
      data: undefined,
      place: item.role === ContentRole.REQUEST ? ContentPlace.NONE : ContentPlace.ELSEWHERE,
    }));
}

/** The content beside the record that holds the intent. */
export async function intentItems(intent: Intent, kernel: KernelParts): Promise<ContentItem[]> {
  const stored = await kernel.store.readRecord(intent.recordIndex);
  return stored === undefined ? [] : fromBinary(RecordContentSchema, stored.content).items;
}

async function commitFound(found: FoundResult, kernel: KernelParts): Promise<Committed> {
  const normalised = normaliseOutput(found.registered, found.output);
  if (!("bytes" in normalised)) throw new KernelError("INVALID_OUTPUT", "a reconciled result does not fit its schema");
  const placed = await placeBytes(normalised.bytes, blake3(normalised.bytes), kernel.contentStore);
  return commitContent({ role: ContentRole.RESULT, ...placed }, kernel.random);
}

function completedEntry(
  found: FoundResult,
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
    },
  };
}

function reopen(items: readonly ContentDraft[], role: ContentRole): Uint8Array | undefined {
  const item = items.find((candidate) => candidate.role === role);
  return item?.digest && item.nonce ? commitTo(item.digest, item.nonce) : undefined;
}
