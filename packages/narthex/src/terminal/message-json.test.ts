import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  ContentItemSchema,
  ContentPlace,
  ContentRole,
  create,
  EntrySchema,
  fromBinary,
  ToolErrorSchema,
  ToolSuccessSchema,
} from "@narthex/contracts";
import { messageToJson } from "./message-json.ts";

describe("messageToJson", () => {
  it("names every field as the proto does, defaults included", () => {
    assert.deepEqual(messageToJson(ToolErrorSchema, create(ToolErrorSchema, { errorCode: "TIMEOUT" })), {
      error_code: "TIMEOUT",
      message: "",
      retryable: false,
      retry_after_ms: 0,
      violations: [],
      proof_hash: "",
      effects_possible: false,
      approval_id: "",
      repeated_answer: false,
      view: "",
    });
  });

  it("writes bytes as hex and 64-bit integers as numbers", () => {
    const json = messageToJson(
      ToolSuccessSchema,
      create(ToolSuccessSchema, { resultHash: Uint8Array.of(0xab, 1), durationMs: 12n }),
    );
    assert.equal(json["result_hash"], "ab01");
    assert.equal(json["duration_ms"], 12);
  });

  it("keeps the digits of integers that a double cannot represent", () => {
    const json = messageToJson(ToolSuccessSchema, create(ToolSuccessSchema, { resultSize: 2n ** 63n }));
    assert.equal(json["result_size"], "9223372036854775808");
  });

  it("prints only the set field of a oneof", () => {
    const entry = create(EntrySchema, { kind: { case: "sessionClosed", value: { reason: "closed" } } });
    assert.deepEqual(messageToJson(EntrySchema, entry), { session_closed: { reason: "closed" } });
    assert.deepEqual(messageToJson(EntrySchema, create(EntrySchema)), {});
  });

  it("names enum values without their prefix and unknown ones by number", () => {
    const item = create(ContentItemSchema, { role: ContentRole.POLICY_REQUEST, place: ContentPlace.ROW });
    const json = messageToJson(ContentItemSchema, item);
    assert.equal(json["role"], "policy_request");
    assert.equal(json["place"], "row");
    const unknown = fromBinary(ContentItemSchema, Uint8Array.of(0x08, 99));
    assert.equal(messageToJson(ContentItemSchema, unknown)["role"], 99);
  });
});
