import assert from "node:assert/strict";
import { test } from "node:test";
import {
  blake3,
  create,
  encode,
  type ToolResponse,
  ToolRequestSchema,
  ToolResponseSchema,
  utf8,
} from "@narthex/contracts";
import type { FuzzedStream } from "../../campaigns/frames/any-stream.ts";
import { PREFACE, predictStream } from "../../campaigns/frames/door-model.ts";
import { answersToWaitFor, judgeAnswers } from "../../campaigns/frames/judge-answers.ts";

const TOKEN = "token";

function call(requestId: string, sessionToken = TOKEN): Uint8Array {
  const tool = { case: "call" as const, value: { name: "echo", input: utf8("1") } };
  return encode(create(ToolRequestSchema, { requestId, sessionToken, tool }));
}

function streamOf(...bodies: readonly Uint8Array[]): FuzzedStream {
  const frames = bodies.map((body) => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    return Buffer.concat([head, body]);
  });
  const bytes = Buffer.concat([PREFACE, ...frames]);
  return { bytes, chunks: [bytes], fate: predictStream(bytes, TOKEN), results: new Map([["valid", "1"]]) };
}

function success(requestId: string, result = "1", hashed = result): ToolResponse {
  const value = { inlineResult: utf8(result), resultHash: blake3(utf8(hashed)) };
  return create(ToolResponseSchema, { requestId, result: { case: "success", value } });
}

function error(requestId: string, errorCode: string): ToolResponse {
  const violations = [{ field: "f", rule: "malformed", message: "m" }];
  return create(ToolResponseSchema, { requestId, result: { case: "error", value: { errorCode, violations } } });
}

function judge(stream: FuzzedStream, answers: readonly ToolResponse[], hungUp = false): void {
  judgeAnswers(stream, { answers, hungUp, rest: 0, gaveUp: false });
}

const BROKEN = Uint8Array.of(0xff, 0xff, 0xff);
const TWO = streamOf(call("valid"), call("other"));

for (const [name, answers, problem] of [
  ["a frame without an answer", [success("valid")], /frame 1 .* got no answer/],
  ["a second answer to one frame", [success("valid"), success("other"), success("other")], /answers no frame/],
  ["an answer under another id", [success("valid"), success("third")], /answers no frame/],
  ["a code that is not in the tables", [success("valid"), error("other", "WHATEVER")], /WHATEVER .* answers no frame/],
  ["a valid call that is refused", [error("valid", "INTERNAL"), success("other")], /answered otherwise/],
  ["a wrong result", [success("valid", "2"), success("other")], /another result/],
  ["a wrong hash", [success("valid", "1", "2"), success("other")], /the hash of valid/],
  [
    "an answer that nobody asked for",
    [success("valid"), success("other"), error("", "INVALID_REQUEST")],
    /without an id/,
  ],
] as const) {
  test(`${name} does not pass`, () => {
    assert.throws(() => judge(TWO, answers), problem);
  });
}

test("one response each passes, in any order; closing without a reason, silence and half a response fail", () => {
  const answers = [error("other", "TOOL_NOT_FOUND"), success("valid")];
  judge(TWO, answers);
  assert.equal(answersToWaitFor(TWO.fate), 2);
  assert.throws(() => judge(TWO, answers, true), /hung up without a reason/);
  assert.throws(() => judgeAnswers(TWO, { answers, hungUp: false, rest: 0, gaveUp: true }), /silence/);
  assert.throws(() => judgeAnswers(TWO, { answers, hungUp: false, rest: 3, gaveUp: false }), /broke off/);
});

test("an unreadable frame ends the connection with one response; requests before it get theirs in order", () => {
  const stream = streamOf(call("valid"), BROKEN, call("second"), call("third"));
  const refusal = error("", "INVALID_REQUEST");
  assert.equal(answersToWaitFor(stream.fate), undefined);
  judge(stream, [success("valid"), refusal], true);
  judge(stream, [refusal, success("valid"), success("second")], true);
  assert.throws(() => judge(stream, [refusal], true), /frame 0 .* got no answer/);
  assert.throws(() => judge(stream, [success("valid")], true), /0 answers without an id/);
  assert.throws(() => judge(stream, [success("valid"), refusal], false), /did not hang up/);
  assert.throws(() => judge(stream, [success("valid"), refusal, refusal], true), /2 answers without an id/);
  assert.throws(() => judge(stream, [success("valid"), refusal, success("third")], true), /frame 2 got no answer/);
});

test("an unknown token and an invalid request are refused under their ids", () => {
  const stream = streamOf(call("stranger", "nobody"), call("x".repeat(257)));
  const value = { rationaleCode: "SESSION_UNKNOWN", ruleId: "kernel:admit" };
  const denied = create(ToolResponseSchema, { requestId: "stranger", result: { case: "denied", value } });
  judge(stream, [denied, error("x".repeat(257), "INVALID_REQUEST")]);
  assert.throws(
    () => judge(stream, [success("stranger"), error("x".repeat(257), "INVALID_REQUEST")]),
    /answers no frame/,
  );
});
