import {
  blake3,
  ContentRole,
  compileEncoder,
  digestRequest,
  LOGICAL_EPOCH_MS,
  LOGICAL_TICK_MS,
  type Proof,
  ProofSchema,
  type ToolError,
  ToolErrorSchema,
  utf8,
} from "@narthex/contracts";
import { type Committed, type EntryPlain, type ItemPlain, LedgerBuilder } from "./ledger-builder.ts";

export const SESSION = "ses_aaaaaaaaaaaaaaaaaaaa";
export const OTHER_SESSION = "ses_bbbbbbbbbbbbbbbbbbbb";

const POLICY =
  '[{"name":"base.cedar","text":"@id(\\"all\\") permit(principal, action == Action::\\"echo\\", resource);"}]';
const DEFINITION = '{"name":"echo","version":"1.0.0"}';
const POLICY_HASH = blake3(utf8(POLICY));
const BUDGET = [
  { dimension: "calls", amount: 1 },
  { dimension: "cost_units", amount: 1 },
];
const encodeProof = compileEncoder<Proof>(ProofSchema);
const encodeError = compileEncoder<ToolError>(ToolErrorSchema);

/** Writes what a kernel records first: its version, the policy in force, the available tools. */
export function startKernel(ledger: LedgerBuilder): void {
  ledger.append({ chain: "system", entries: [{ case: "kernelStarted", value: { version: "0.1.0" } }] });
  const policy = ledger.commit(ContentRole.POLICY_SET, POLICY);
  const loaded = {
    policyHash: POLICY_HASH,
    schemaHash: blake3(utf8("{}")),
    engine: "narthex-allow-list/1",
    ruleCount: 1,
  };
  ledger.append({ chain: "system", entries: [{ case: "policyLoaded", value: loaded }], items: [policy.item] });
  const definition = ledger.commit(ContentRole.DEFINITION, DEFINITION);
  const registered = {
    toolName: "echo",
    toolVersion: "1.0.0",
    definitionHash: blake3(utf8(DEFINITION)),
    source: "builtin",
    isolation: "inline",
  };
  ledger.append({
    chain: "system",
    entries: [{ case: "toolRegistered", value: registered }],
    items: [definition.item],
  });
}

export function openSession(ledger: LedgerBuilder, session = SESSION): void {
  const leaseId = session.replace("ses_", "lea_");
  const opened = {
    sessionId: session,
    tenant: "default",
    user: "ada",
    agent: "agent",
    workspace: "/workspace",
    workingDirectory: "/workspace",
    seed: blake3(utf8(`${session} seed`)),
    leaseId,
    expiresAtMs: 1_789_028_800_000,
  };
  ledger.append({
    chain: session,
    entries: [
      { case: "sessionOpened", value: opened },
      { case: "leaseGranted", value: { leaseId, lease: `{"id":"${leaseId}"}` } },
    ],
  });
}

export function closeSession(ledger: LedgerBuilder, session = SESSION): void {
  ledger.append({ chain: session, entries: [{ case: "sessionClosed", value: { reason: "closed" } }] });
}

export interface Decision {
  readonly checked: EntryPlain;
  readonly decided: EntryPlain;
  readonly proof: Committed;
  readonly items: readonly ItemPlain[];
}

export function decision(ledger: LedgerBuilder, callNumber: number, approve: "none" | "human" = "none"): Decision {
  const asked = ledger.commit(ContentRole.POLICY_REQUEST, `{"action":"echo","number":${callNumber}}`);
  const proof = ledger.commit(
    ContentRole.PROOF,
    encodeProof({ allowed: true, ruleIds: ["all"], policyHash: POLICY_HASH, requestHash: asked.item.digest, approve }),
  );
  const decided = {
    allowed: true,
    ruleIds: ["all"],
    policyHash: POLICY_HASH,
    proofCommitment: proof.commitment,
    approve,
    policyRequestCommitment: asked.commitment,
  };
  return {
    checked: { case: "capabilityCheck", value: { granted: true, leaseId: "lea_aaaaaaaaaaaaaaaaaaaa" } },
    decided: { case: "policyDecision", value: decided },
    proof,
    items: [proof.item, asked.item],
  };
}

/** The parts of one call, from which a test can build records in any way. */
export interface CallParts extends Decision {
  readonly requestId: string;
  readonly invoked: EntryPlain;
  readonly started: EntryPlain;
  readonly completed: EntryPlain;
  readonly failed: EntryPlain;
  readonly denied: EntryPlain;
  /** The content that the entries up to the decision commit to. */
  readonly items: readonly ItemPlain[];
  readonly result: ItemPlain;
  readonly error: ItemPlain;
  readonly logicalTimeMs: number;
}

export interface CallOptions {
  readonly approve?: "none" | "human";
  readonly intent?: boolean;
  readonly result?: Committed;
  readonly labels?: readonly string[];
  readonly redacted?: boolean;
  /** The decision that the outcome repeats, if it is not the first. */
  readonly last?: Decision;
}

export function callParts(ledger: LedgerBuilder, callNumber: number, options: CallOptions = {}): CallParts {
  const { approve = "none", intent = false, labels = [], redacted = false } = options;
  const inputBytes = utf8(`{"text":"hello ${callNumber}"}`);
  const input = ledger.commit(ContentRole.INPUT, inputBytes);
  const request = ledger.commitRequest(
    digestRequest({ toolName: "echo", toolVersion: "", inputDigest: blake3(inputBytes) }),
  );
  const first = decision(ledger, callNumber, approve);
  const result = options.result ?? ledger.commit(ContentRole.RESULT, `result ${callNumber}`, labels);
  const error = ledger.commit(ContentRole.ERROR, encodeError({ errorCode: "EXECUTION_FAILED", message: "it broke" }));
  const proof = (options.last ?? first).proof;
  const ending = { requestCommitment: request.commitment, proofCommitment: proof.commitment, durationMs: 3 };
  const invoked = {
    toolName: "echo",
    toolVersion: "1.0.0",
    definitionHash: blake3(utf8(DEFINITION)),
    inputCommitment: input.commitment,
    requestCommitment: request.commitment,
    door: "framed",
    isolation: "inline",
    effects: intent ? ["artifact"] : [],
    safetyTier: intent ? "side_effecting" : "read_only",
    determinism: "pure",
  };
  const completed = {
    ...ending,
    success: true,
    resultCommitment: result.commitment,
    resultSize: result.item.size,
    resultType: "string",
    spent: BUDGET,
    labels,
    redacted,
  };
  return {
    ...first,
    requestId: `req-${callNumber}`,
    invoked: { case: "toolInvoked", value: invoked },
    started: { case: "toolStarted", value: { callNumber, intent, reserved: BUDGET, timeoutMs: 30_000 } },
    completed: { case: "toolCompleted", value: completed },
    failed: { case: "toolFailed", value: { ...ending, code: "EXECUTION_FAILED", errorCommitment: error.commitment } },
    denied: { case: "toolDenied", value: { ...ending, code: "APPROVAL_DENIED", ruleId: "all" } },
    items: [input.item, request.item, ...first.items],
    result: result.item,
    error: error.item,
    logicalTimeMs: LOGICAL_EPOCH_MS + callNumber * LOGICAL_TICK_MS,
  };
}

/** Writes a read-only call without an approval: one record. */
export function readOnlyCall(
  ledger: LedgerBuilder,
  callNumber: number,
  options: CallOptions = {},
  session = SESSION,
): CallParts {
  const call = callParts(ledger, callNumber, options);
  ledger.append({
    chain: session,
    requestId: call.requestId,
    entries: [call.invoked, call.checked, call.decided, call.started, call.completed],
    items: [...call.items, call.result],
    logicalTimeMs: call.logicalTimeMs,
  });
  return call;
}

/** Writes a call with effects, up to its intent. */
export function intentOf(ledger: LedgerBuilder, callNumber: number, session = SESSION): CallParts {
  const call = callParts(ledger, callNumber, { intent: true });
  ledger.append({
    chain: session,
    requestId: call.requestId,
    entries: [call.invoked, call.checked, call.decided, call.started],
    items: call.items,
    logicalTimeMs: call.logicalTimeMs,
  });
  return call;
}

export function completeIntent(ledger: LedgerBuilder, call: CallParts, session = SESSION): void {
  ledger.append({ chain: session, requestId: call.requestId, entries: [call.completed], items: [call.result] });
}

export function startedLedger(): LedgerBuilder {
  const ledger = new LedgerBuilder();
  ledger.append({ chain: "system", entries: [{ case: "kernelStarted", value: { version: "0.1.0" } }] });
  openSession(ledger);
  return ledger;
}

export function ledgerWithCall(options: CallOptions = {}): {
  readonly ledger: LedgerBuilder;
  readonly call: CallParts;
} {
  const ledger = startedLedger();
  return { ledger, call: callParts(ledger, 1, options) };
}

export function appendEntries(
  ledger: LedgerBuilder,
  call: CallParts,
  entries: readonly EntryPlain[],
  items: readonly ItemPlain[],
): void {
  ledger.append({ chain: SESSION, requestId: call.requestId, entries, items });
}
