import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, ToolResponseSchema, utf8 } from "@narthex/contracts";
import { resultToJson } from "./call-result.ts";
import { exitCodeOfResponse, responseToJson } from "./call-view.ts";

describe("responseToJson", () => {
  it("prints a denial with its rule, code and message", () => {
    const response = create(ToolResponseSchema, {
      requestId: "r",
      result: { case: "denied", value: { ruleId: "kernel:decide", rationaleCode: "NO_MATCHING_RULE", message: "no" } },
    });
    assert.deepEqual(responseToJson(response, undefined), {
      request_id: "r",
      status: "denied",
      rule_id: "kernel:decide",
      rationale_code: "NO_MATCHING_RULE",
      message: "no",
      proof_hash: "",
    });
    assert.equal(exitCodeOfResponse(response), 3);
  });

  it("prints an error with all its violations", () => {
    const violations = [{ field: "text", rule: "required", message: "is missing" }];
    const response = create(ToolResponseSchema, {
      result: { case: "error", value: { errorCode: "INVALID_INPUT", violations } },
    });
    const json = responseToJson(response, undefined);
    assert.equal(json["status"], "error");
    assert.deepEqual(json["violations"], violations);
    assert.equal(exitCodeOfResponse(response), 4);
  });

  it("prints the result in place of its bytes", () => {
    const response = create(ToolResponseSchema, {
      requestId: "r",
      result: {
        case: "success",
        value: { resultHash: new Uint8Array(32), inlineResult: utf8('{"a":1}'), durationMs: 2n, resultType: "object" },
      },
    });
    const json = responseToJson(response, { kind: "bytes", bytes: utf8('{"a":1}') });
    assert.equal(json["status"], "success");
    assert.equal(json["result_hash"], "00".repeat(32));
    assert.equal(json["duration_ms"], 2);
    assert.deepEqual(json["result"], { a: 1 });
    assert.equal("inline_result" in json, false);
    assert.equal(exitCodeOfResponse(response), 0);
  });

  it("rejects a response without a result", () => {
    assert.throws(() => responseToJson(create(ToolResponseSchema), undefined), { code: "KERNEL_UNREACHABLE" });
    assert.equal(exitCodeOfResponse(create(ToolResponseSchema)), 5);
  });
});

describe("resultToJson", () => {
  it("prints binary output as base64", () => {
    assert.deepEqual(resultToJson("binary", Uint8Array.of(255, 0)), { base64: "/wA=" });
  });

  it("prints text as text and JSON as its value", () => {
    assert.equal(resultToJson("string", utf8('{"a":1}')), '{"a":1}');
    assert.equal(resultToJson("stream", utf8("héllo")), "héllo");
    assert.deepEqual(resultToJson("array", utf8("[1,2]")), [1, 2]);
    assert.equal(resultToJson("json", utf8('"x"')), "x");
  });

  it("keeps a byte order mark", () => {
    assert.equal(resultToJson("string", Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)), "\ufeffa");
  });
});
