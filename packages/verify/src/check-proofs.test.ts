import assert from "node:assert/strict";
import { test } from "node:test";
import { LedgerBuilder, type EntryPlain } from "./testing/ledger-builder.ts";
import { callParts, openSession, SESSION, startKernel } from "./testing/ledger-story.ts";
import { verifyLedger } from "./verify-ledger.ts";

const WRONG: readonly { readonly name: string; readonly said: object; readonly message: RegExp }[] = [
  { name: "another answer", said: { allowed: false, observedOnly: true }, message: /another answer/ },
  { name: "other rules", said: { ruleIds: ["other"] }, message: /other rules/ },
  { name: "another policy", said: { policyHash: new Uint8Array(32).fill(9) }, message: /another policy/ },
  { name: "another reason", said: { rationaleCode: "NO_MATCHING_RULE" }, message: /another reason/ },
];

for (const { name, said, message } of WRONG) {
  test(`reports a decision with ${name} than its proof`, async () => {
    const { ledger, index } = ledgerWith(said);
    const report = await verifyLedger(ledger);
    assert.deepEqual(
      report.problems.map(({ code, recordIndex }) => [code, recordIndex]),
      [["proof_contradicts", index]],
    );
    assert.match(report.problems[0]?.message ?? "", message);
  });
}

test("reports a proof for another policy request than the stored one", async () => {
  const { ledger, call } = begun();
  const other = callParts(ledger, 2);
  const [proof, question] = [call.items.find(isProof), other.items.find(isQuestion)];
  assert.ok(proof !== undefined && question !== undefined);
  const decided = { ...value(call.decided), policyRequestCommitment: value(other.decided)["policyRequestCommitment"] };
  ledger.append({
    chain: SESSION,
    requestId: call.requestId,
    entries: [call.invoked, call.checked, entry("policyDecision", decided), call.started, call.completed],
    items: [...call.items.filter((item) => !isQuestion(item)), question, call.result],
    logicalTimeMs: call.logicalTimeMs,
  });
  const [problem] = (await verifyLedger(ledger)).problems;
  assert.match(problem?.message ?? "", /another question/);
});

function begun() {
  const ledger = new LedgerBuilder();
  startKernel(ledger);
  openSession(ledger);
  return { ledger, call: callParts(ledger, 1) };
}

function ledgerWith(said: object) {
  const { ledger, call } = begun();
  const decided = entry("policyDecision", { ...value(call.decided), ...said });
  const { index } = ledger.append({
    chain: SESSION,
    requestId: call.requestId,
    entries: [call.invoked, call.checked, decided, call.started, call.completed],
    items: [...call.items, call.result],
    logicalTimeMs: call.logicalTimeMs,
  });
  return { ledger, index };
}

function value(plain: EntryPlain): { readonly [field: string]: unknown } {
  return plain.value as { readonly [field: string]: unknown };
}

function entry(kind: string, said: object): EntryPlain {
  return { case: kind, value: said } as EntryPlain;
}

const isProof = ({ role }: { readonly role?: unknown }): boolean => role === 4;
const isQuestion = ({ role }: { readonly role?: unknown }): boolean => role === 3;
