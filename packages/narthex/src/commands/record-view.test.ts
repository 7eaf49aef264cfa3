import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ContentRole,
  create,
  type EntrySchema,
  LedgerRecordSchema,
  RecordContentSchema,
  RecordSchema,
  toBinary,
} from "@narthex/contracts";
import { summariseRecord } from "./record-summary.ts";
import { spacedJson } from "./json-text.ts";
import { decodeRecord, entryFacts, entryName, recordToJson } from "./record-view.ts";

const record = create(RecordSchema, {
  format: 1,
  index: 7n,
  chain: "ses_a",
  sequence: 2n,
  previousHash: new Uint8Array(32).fill(1),
  requestId: "r",
  entries: [
    { kind: { case: "toolInvoked", value: { toolName: "echo", toolVersion: "1.0.0", effects: [] } } },
    { kind: { case: "policyDecision", value: { allowed: true, ruleIds: ["r1"] } } },
    { kind: { case: "toolCompleted", value: { success: true, resultSize: 2048n, durationMs: 3n } } },
  ],
});
const content = create(RecordContentSchema, {
  items: [{ role: ContentRole.INPUT, digest: new Uint8Array(32), nonce: new Uint8Array(32).fill(9), size: 4n }],
});
const stored = create(LedgerRecordSchema, {
  index: 7n,
  hash: new Uint8Array(32).fill(2),
  record: toBinary(RecordSchema, record),
  content: toBinary(RecordContentSchema, content),
});

type EntryKind = NonNullable<MessageInitShape<typeof EntrySchema>["kind"]>;

describe("recordToJson", () => {
  it("never shows a nonce or the bytes", () => {
    assert.deepEqual(recordToJson(decodeRecord(stored))["content"], [
      { role: "input", digest: "00".repeat(32), size: 4, place: "unspecified", labels: [] },
    ]);
  });

  it("shows the record's own fields beside its hash", () => {
    const json = recordToJson(decodeRecord(stored));
    assert.equal(json["hash"], "02".repeat(32));
    assert.equal(json["previous_hash"], "01".repeat(32));
    assert.equal(json["index"], 7);
    assert.match(JSON.stringify(json["entries"]), /^\[\{"tool_invoked":\{"tool_name":"echo",/);
  });
});

describe("records as text", () => {
  it("are summarised in one line", () => {
    assert.equal(summariseRecord(decodeRecord(stored)), "echo@1.0.0 · allowed by r1 · ok, 2.0 KB in 3 ms");
  });

  it("show one decision and the call's target, however often policy was evaluated", () => {
    const decided = (allowed: boolean, ...ruleIds: string[]): MessageInitShape<typeof EntrySchema> => ({
      kind: {
        case: "policyDecision",
        value: { allowed, ruleIds, rationaleCode: allowed ? "" : "NO_MATCHING_RULE" },
      },
    });
    const sumUp = (...entries: MessageInitShape<typeof EntrySchema>[]): string =>
      summariseRecord(
        { record: create(RecordSchema, { chain: "ses_a", entries }), subject: "a-long-path" },
        { maxSubject: 5 },
      );
    const invoked: EntryKind = { case: "toolInvoked", value: { toolName: "file_move" } };
    const denied: EntryKind = { case: "toolDenied", value: { code: "NO_MATCHING_RULE", ruleId: "kernel:decide" } };
    assert.equal(
      sumUp({ kind: invoked }, decided(true, "write"), decided(false), { kind: denied }),
      "file_move a-lo… · denied: no rule permits it · NO_MATCHING_RULE",
    );
    assert.equal(sumUp(decided(true, "write"), decided(true, "read"), decided(true, "read")), "allowed by write, read");
    assert.equal(sumUp(decided(true, "write"), decided(false, "no-env")), "denied by no-env");
    const ended = create(RecordSchema, { entries: [{ kind: { case: "toolTimedOut", value: { code: "TIMEOUT" } } }] });
    assert.equal(summariseRecord({ record: ended, subject: "" }, { call: "file_move a" }), "file_move a · TIMEOUT");
    const tools = ["a", "b", "c", "d"].map((toolName) => ({
      kind: { case: "toolRegistered" as const, value: { toolName, toolVersion: "1.0.0" } },
    }));
    assert.equal(sumUp(...tools), "4 tools registered");
  });

  it("show the approver, the decision, and that a request was withdrawn", () => {
    const sumUp = (...entries: MessageInitShape<typeof EntrySchema>[]): string => {
      const asked = create(RecordSchema, { chain: "ses_a", entries });
      return summariseRecord({ record: asked, subject: "" });
    };
    const asks: EntryKind = {
      case: "policyDecision",
      value: { allowed: true, approve: "human", ruleIds: ["ask-command"] },
    };
    const pending: EntryKind = { case: "toolFailed", value: { code: "APPROVAL_PENDING" } };
    assert.equal(sumUp({ kind: asks }, { kind: pending }), "ask-command asks a person · no answer yet");
    const approved = { approvalId: "apr_a", answer: "approved", approver: "ann" };
    assert.equal(sumUp({ kind: { case: "approvalResolved", value: approved } }), "approval apr_a approved by ann");
    const withdrawn = { approvalId: "apr_a", answer: "withdrawn" };
    assert.equal(sumUp({ kind: { case: "approvalResolved", value: withdrawn } }), "approval apr_a withdrawn");
    // After the wait the call is decided again, and by then a person has answered.
    const afterwards = sumUp({ kind: { case: "approvalResolved", value: approved } }, { kind: asks });
    assert.equal(afterwards, "approval apr_a approved by ann");
    const granted: EntryKind = { case: "leaseGranted", value: { leaseId: "lea_a" } };
    assert.equal(sumUp({ kind: granted }), "lease lea_a granted");
  });

  it("show entries by name, with their non-empty fields", () => {
    const [entry] = record.entries;
    assert.ok(entry);
    assert.equal(entryName(entry), "ToolInvoked");
    assert.deepEqual(entryFacts(entry), [
      ["tool_name", "echo"],
      ["tool_version", "1.0.0"],
    ]);
  });
});

it("allow line breaks after the commas of JSON, and keep its texts unchanged", () => {
  const value = { kind: "exec", names: ["a, b", 'say "x": ', "two\nlines"], empty: [], none: null };
  const text = String.raw`{"kind":"exec", "names":["a, b", "say \"x\": ", "two\nlines"], "empty":[], "none":null}`;
  assert.equal(spacedJson(value), text);
  assert.deepEqual(JSON.parse(text), value);
});
