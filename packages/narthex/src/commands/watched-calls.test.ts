import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ContentRole,
  create,
  type EntrySchema,
  type RecordContent,
  RecordContentSchema,
  RecordSchema,
} from "@narthex/contracts";
import { recordSubject } from "@narthex/server/call-subject";
import { createCallWatcher } from "@narthex/server/watched-calls";
import type { RecordView } from "./record-view.ts";
import { describeDecision } from "./watch.ts";

type EntryInit = MessageInitShape<typeof EntrySchema>;

function view(index: number, requestId: string, entries: EntryInit[]): RecordView {
  const record = create(RecordSchema, { index: BigInt(index), chain: "ses_a", requestId, wallTimeMs: 5n, entries });
  return { index, hash: new Uint8Array(32), record, content: undefined, subject: "" };
}

const INVOKED: EntryInit = { kind: { case: "toolInvoked", value: { toolName: "echo", toolVersion: "1.0.0" } } };
const ALLOWED: EntryInit = { kind: { case: "policyDecision", value: { allowed: true, ruleIds: ["pure-tools"] } } };

describe("createCallWatcher", () => {
  it("prints nothing for records that end no call", () => {
    const observe = createCallWatcher();
    assert.equal(observe(view(0, "", [{ kind: { case: "sessionOpened", value: {} } }])), undefined);
    assert.equal(observe(view(1, "r", [INVOKED, ALLOWED, { kind: { case: "toolStarted", value: {} } }])), undefined);
  });

  it("names the denying rule, also if policy was not reached", () => {
    const observe = createCallWatcher();
    const call = observe(
      view(0, "r", [
        INVOKED,
        { kind: { case: "toolDenied", value: { code: "LEASE_SCOPE", ruleId: "kernel:decide" } } },
      ]),
    );
    assert.equal(call?.decision, "denied");
    assert.deepEqual(call?.rules, ["kernel:decide"]);
    assert.equal(call?.code, "LEASE_SCOPE");
  });

  it("joins the records of an intent and of its outcome", () => {
    const observe = createCallWatcher();
    observe(view(0, "r", [INVOKED, ALLOWED]));
    observe(view(1, "other", [INVOKED]));
    const outcome = { success: true, durationMs: 7n, resultSize: 12n };
    const call = observe(view(2, "r", [{ kind: { case: "toolCompleted", value: outcome } }]));
    assert.equal(call?.tool, "echo@1.0.0");
    assert.deepEqual(
      [call?.decision, call?.rules, call?.durationMs, call?.resultSize],
      ["allowed", ["pure-tools"], 7, 12],
    );
  });

  it("shows a call's target: its input, or its required capability if the input is stored elsewhere", () => {
    const input = (value: object) =>
      create(RecordContentSchema, {
        items: [{ role: ContentRole.INPUT, data: Buffer.from(JSON.stringify(value)) }],
      });
    const end: EntryInit = { kind: { case: "toolCompleted", value: { success: true } } };
    const needed = { required: ['{"kind":"fs_write","prefixes":["/w/big.txt"]}'] };
    const subject = (entries: EntryInit[], content?: RecordContent) => {
      const placed = view(0, "r", [INVOKED, ...entries, end]);
      return createCallWatcher()({ ...placed, subject: recordSubject(placed.record, content) })?.subject;
    };
    assert.equal(subject([], input({ command: "npm test", timeout_ms: 5 })), "npm test");
    assert.equal(subject([], input({ operation: "DIFF", path: "src" })), "DIFF src");
    assert.equal(subject([], input({ text: "hi" })), '{"text":"hi"}');
    assert.equal(subject([], input({})), "");
    assert.equal(subject([{ kind: { case: "capabilityCheck", value: needed } }]), "/w/big.txt");
    assert.equal(subject([], input({ command: "x".repeat(1000) }))?.length, 301);
  });

  it("marks unknown facts of a call that began before the watch", () => {
    const call = createCallWatcher()(view(9, "r", [{ kind: { case: "toolFailed", value: { code: "TIMEOUT" } } }]));
    assert.deepEqual([call?.tool, call?.decision, call?.code], ["?", "undecided", "TIMEOUT"]);
  });

  it("describes what waits, what was rejected before any rule, and what ended without a response", () => {
    const asks: EntryInit = {
      kind: { case: "policyDecision", value: { allowed: true, approve: "human", ruleIds: ["ask-command"] } },
    };
    const told = (...entries: EntryInit[]): string => {
      const call = createCallWatcher()(view(0, "r", [INVOKED, ...entries]));
      return call === undefined ? "" : describeDecision(call);
    };
    const failed = (code: string): EntryInit => ({ kind: { case: "toolFailed", value: { code } } });
    assert.equal(told(asks, failed("APPROVAL_PENDING")), "waits for a person (ask-command)");
    assert.equal(told(asks, failed("CANCELLED")), "ended unanswered (ask-command)");
    assert.equal(told(failed("INVALID_INPUT")), "rejected");
    assert.equal(told(ALLOWED, failed("TIMEOUT")), "allowed by pure-tools");
  });

  it("distinguishes repeats", () => {
    const call = createCallWatcher()(view(3, "r", [INVOKED, ALLOWED, { kind: { case: "callRepeated", value: {} } }]));
    assert.equal(call?.decision, "repeated");
  });
});
