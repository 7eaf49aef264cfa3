import {
  commitTo,
  type ContentItem,
  ContentPlace,
  ContentRole,
  equalBytes,
  fromBinary,
  type JsonValue,
  type PolicyDecision,
  RecordContentSchema,
  type RecordMessage,
  RecordSchema,
  toHex,
} from "@narthex/contracts";
import type { LedgerFiles } from "@narthex/host";
import {
  parseStoredJson,
  readStoredPolicyRequest,
  type StoredPolicyRequest,
  type ReevaluatedDecision,
} from "@narthex/kernel";

/** Where a decision is recorded. */
export interface DecisionPlace {
  readonly index: number;
  readonly chain: string;
  readonly requestId: string;
}

/** A recorded policy decision, with the request that it was about. */
export interface RecordedDecision extends DecisionPlace {
  readonly before: ReevaluatedDecision;
  readonly observedOnly: boolean;
  readonly question: StoredPolicyRequest;
  readonly input: JsonValue;
  readonly inputDigest: Uint8Array;
}

/** A decision that cannot be evaluated again. */
export interface UnavailableDecision extends DecisionPlace {
  readonly lost: "erased" | "never asked" | "unreadable";
}

/** A record with its decisions, in order. */
export interface DecisionRecord {
  readonly message: RecordMessage;
  readonly decisions: readonly (RecordedDecision | UnavailableDecision)[];
}

/** Maximum number of inputs kept for calls that a later record decides again. */
const MAX_INPUTS = 4096;

/** Yields every record of a ledger with decisions or approvals, oldest first. */
export function* readDecisions(ledger: LedgerFiles): Generator<DecisionRecord> {
  const inputs = new Map<string, Uint8Array>();
  for (const { record, content } of ledger.records()) {
    const message = fromBinary(RecordSchema, record);
    if (!message.entries.some(({ kind }) => RELEVANT_ENTRIES.has(kind.case ?? ""))) continue;
    const { items } = fromBinary(RecordContentSchema, content);
    for (const item of items) remember(item, inputs, ledger);
    const decisions = message.entries.flatMap(({ kind }) =>
      kind.case === "policyDecision" ? [readDecision(kind.value, message, items, inputs)] : [],
    );
    yield { message, decisions };
  }
}

const RELEVANT_ENTRIES: ReadonlySet<string> = new Set([
  "toolInvoked",
  "policyDecision",
  "approvalRequested",
  "approvalResolved",
]);

function remember(item: ContentItem, inputs: Map<string, Uint8Array>, ledger: LedgerFiles): void {
  if (item.role !== ContentRole.INPUT || item.digest.length === 0) return;
  const bytes = item.place === ContentPlace.ROW ? item.data : ledger.readFile(item.digest);
  if (bytes === undefined) return;
  const oldest = inputs.size >= MAX_INPUTS ? inputs.keys().next().value : undefined;
  if (oldest !== undefined) inputs.delete(oldest);
  inputs.set(toHex(item.digest), bytes);
}

function readDecision(
  decision: PolicyDecision,
  { index, chain, requestId }: RecordMessage,
  items: readonly ContentItem[],
  inputs: ReadonlyMap<string, Uint8Array>,
): RecordedDecision | UnavailableDecision {
  const place = { index: Number(index), chain, requestId };
  const { policyRequestCommitment: commitment, allowed, approve, ruleIds, rationaleCode, observedOnly } = decision;
  if (commitment.length === 0) return { ...place, lost: "never asked" };
  const item = items.find(
    ({ role, digest, nonce }) =>
      role === ContentRole.POLICY_REQUEST && digest.length > 0 && equalBytes(commitTo(digest, nonce), commitment),
  );
  if (item?.place !== ContentPlace.ROW) return { ...place, lost: "erased" };
  try {
    const question = readStoredPolicyRequest(item.data);
    const input = inputs.get(question.call.input_digest);
    if (input === undefined) return { ...place, lost: "erased" };
    return {
      ...place,
      before: { kind: allowed ? kindOf(approve) : "deny", ruleIds, code: rationaleCode },
      observedOnly,
      question,
      input: parseStoredJson(input, "input"),
      inputDigest: Buffer.from(question.call.input_digest, "hex"),
    };
  } catch {
    return { ...place, lost: "unreadable" };
  }
}

function kindOf(approve: string): ReevaluatedDecision["kind"] {
  return approve === "human" || approve === "console" ? approve : "allow";
}
