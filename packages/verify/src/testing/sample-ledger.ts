import { ContentPlace, ContentRole, fromBinary, RecordContentSchema, toBinary, utf8 } from "@narthex/contracts";
import { LedgerBuilder } from "./ledger-builder.ts";
import {
  callParts,
  closeSession,
  completeIntent,
  decision,
  intentOf,
  OTHER_SESSION,
  openSession,
  readOnlyCall,
  SESSION,
  startKernel,
} from "./ledger-story.ts";

/** Byte i of the sample's one content file is i modulo this. */
export const FILE_MODULUS = 253;

const made = new Map<string, LedgerBuilder>();

/** A small ledger with one of everything: calls of every shape, content in every place, an erasure. */
export function sampleLedger(seed = "sample"): LedgerBuilder {
  const known = made.get(seed) ?? buildSample(seed);
  made.set(seed, known);
  return known.copy();
}

function buildSample(seed: string): LedgerBuilder {
  const ledger = new LedgerBuilder(seed);
  startKernel(ledger);
  openSession(ledger);
  readOnlyCall(ledger, 1);
  const artifact = putContent(ledger);
  publishArtifact(ledger, artifact);
  openSession(ledger, OTHER_SESSION);
  approvedCall(ledger);
  readOnlyCall(ledger, 1, {}, OTHER_SESSION);
  repeatCall(ledger);
  const open = intentOf(ledger, 5);
  eraseContent(ledger, 4, 0);
  completeIntent(ledger, open);
  readOnlyCall(ledger, 6, { labels: ["untrusted"] });
  closeSession(ledger);
  return ledger;
}

function putContent(ledger: LedgerBuilder): Uint8Array {
  const bytes = new Uint8Array(70_000).map((_, i) => i % FILE_MODULUS);
  const put = ledger.commitFile(ContentRole.PUT, bytes, ["untrusted"]);
  const stored = { contentCommitment: put.commitment, size: bytes.length, labels: ["untrusted"] };
  ledger.append({ chain: SESSION, entries: [{ case: "contentStored", value: stored }], items: [put.item] });
  return bytes;
}

/**
 * Writes intent, effect and outcome as one record each; the artifact's content is stored with the record that published
 * it.
 */
function publishArtifact(ledger: LedgerBuilder, bytes: Uint8Array): void {
  const call = intentOf(ledger, 2);
  const { item, commitment } = ledger.commitElsewhere(ContentRole.ARTIFACT, bytes, ["untrusted"]);
  const published = { artifactId: "report", category: "text", contentCommitment: commitment, size: bytes.length };
  ledger.append({
    chain: SESSION,
    requestId: call.requestId,
    entries: [{ case: "artifactPublished", value: published }],
    items: [item],
  });
  const granted = ledger.commitElsewhere(ContentRole.GRANTED, bytes).item;
  const repeatedProof = { ...call.proof.item, place: ContentPlace.ELSEWHERE, data: new Uint8Array(0) };
  ledger.append({
    chain: SESSION,
    requestId: call.requestId,
    entries: [call.completed],
    items: [repeatedProof, granted, call.result],
  });
}

function approvedCall(ledger: LedgerBuilder): void {
  const again = decision(ledger, 3, "human");
  const call = callParts(ledger, 3, { approve: "human", last: again });
  const asked = { approvalId: "apr_aaaaaaaaaaaaaaaaaaaa", expiresAtMs: 1_789_000_900_000, kind: "human" };
  ledger.append({
    chain: SESSION,
    requestId: call.requestId,
    entries: [call.invoked, call.checked, call.decided, { case: "approvalRequested", value: asked }],
    items: call.items,
  });
  const answer = { approvalId: asked.approvalId, answer: "approved", door: "callback", approver: "ada" };
  ledger.append({
    chain: SESSION,
    requestId: call.requestId,
    entries: [{ case: "approvalResolved", value: answer }, again.checked, again.decided, call.started, call.failed],
    items: [...again.items, call.error],
    logicalTimeMs: call.logicalTimeMs,
  });
}

function repeatCall(ledger: LedgerBuilder): void {
  const call = callParts(ledger, 1);
  ledger.append({
    chain: SESSION,
    requestId: "req-1",
    entries: [
      call.invoked,
      call.checked,
      call.decided,
      { case: "callRepeated", value: { firstRecordIndex: 4, matchedBy: "request_id", firstRequestId: "req-1" } },
    ],
    items: call.items,
  });
}

/** Removes an item from a record's content, and records the erasure in the ledger. */
export function eraseContent(ledger: LedgerBuilder, index: number, item: number): void {
  eraseSilently(ledger, index, item);
  const erased = { recordIndex: index, item, reason: "retention" };
  ledger.append({ chain: "system", entries: [{ case: "contentErased", value: erased }] });
}

export function eraseSilently(ledger: LedgerBuilder, index: number, position: number): void {
  const row = ledger.rows[index];
  if (row === undefined) throw new Error(`there is no record ${index}`);
  const content = fromBinary(RecordContentSchema, row.content);
  const item = content.items[position];
  if (item === undefined) throw new Error(`record ${index} has no item ${position}`);
  Object.assign(item, { digest: utf8(""), nonce: utf8(""), data: utf8(""), place: ContentPlace.ERASED });
  ledger.rows[index] = { ...row, content: toBinary(RecordContentSchema, content) };
}
