import assert from "node:assert/strict";
import { test } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { create, encode, type JsonValue, ToolRequestSchema, utf8 } from "@narthex/contracts";
import fc from "fast-check";
import { parseRequestJson, RequestJsonError } from "./request-json.ts";

function violationsOf(json: JsonValue | string): [string, string][] {
  try {
    parseRequestJson(utf8(typeof json === "string" ? json : JSON.stringify(json)));
  } catch (error) {
    assert.ok(error instanceof RequestJsonError);
    return error.violations.map(({ field, rule }) => [field, rule]);
  }
  return [];
}

test("names every problem at once, by the field's name in the proto files", () => {
  const json = {
    requestId: 5,
    extra: true,
    shellExec: { command: "ls", timeoutMs: -1, env: ["A=1", 7], nested: {} },
    fileRead: { path: "x" },
  };
  assert.deepEqual(violationsOf(json), [
    ["request_id", "malformed"],
    ["extra", "unknown_field"],
    ["shell_exec.timeout_ms", "malformed"],
    ["shell_exec.env[1]", "malformed"],
    ["shell_exec.nested", "unknown_field"],
    ["file_read", "one_of"],
  ]);
});

test("rejects names of inherited properties as unknown fields", () => {
  for (const name of ["constructor", "toString", "hasOwnProperty"]) {
    assert.deepEqual(violationsOf(`{"${name}":1}`), [[name, "unknown_field"]]);
  }
  assert.deepEqual(violationsOf(`{"__proto__":{"requestId":"r"}}`), [["__proto__", "unknown_field"]]);
});

test("rejects numbers that do not fit", () => {
  for (const limit of [-1, 1.5, "01", "0x1", "", " 1", "18446744073709551616", true]) {
    assert.deepEqual(violationsOf({ fileRead: { path: "a", limit } }), [["file_read.limit", "malformed"]], `${limit}`);
  }
  for (const value of [4_294_967_296, "4294967296"]) {
    const json = { inference: { temperatureScaled: value } };
    assert.deepEqual(violationsOf(json), [["inference.temperature_scaled", "malformed"]]);
  }
  assert.deepEqual(violationsOf({ fileRead: { limit: "18446744073709551615" } }), []);
});

test("accepts base64 in both alphabets, and rejects anything else", () => {
  for (const [input, hex] of [
    ["", ""],
    ["+/8=", "fbff"],
    ["-_8", "fbff"],
    ["AAAA", "000000"],
  ] as const) {
    const request = parseRequestJson(utf8(JSON.stringify({ call: { name: "x", input } })));
    assert.equal(request.tool.case === "call" && Buffer.from(request.tool.value.input).toString("hex"), hex);
  }
  for (const input of ["A", "AAAAA", "A=", "AAA==", "AA=A", "A A A", "ä", "=", "AA==="]) {
    assert.deepEqual(violationsOf({ call: { input } }), [["call.input", "malformed"]], input);
  }
});

test("treats null as an omitted field", () => {
  const request = parseRequestJson(utf8(`{"requestId":"r","dedupeKey":null,"fileRead":null,"fileEdit":{"path":"a"}}`));
  assert.equal(request.tool.case, "fileEdit");
});

test("reads protobuf's own JSON unchanged", () => {
  const text = fc.string({ unit: "binary" }).filter((value) => value.isWellFormed());
  const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const bytes = fc.uint8Array({ maxLength: 40 });
  const tool = fc.oneof(
    fc.record({
      case: fc.constant("fileRead" as const),
      value: fc.record({ path: text, offset: uint64, limit: uint64 }),
    }),
    fc.record({
      case: fc.constant("fileWrite" as const),
      value: fc.record({ path: text, content: bytes, append: fc.boolean() }),
    }),
    fc.record({ case: fc.constant("shellExec" as const), value: fc.record({ command: text, env: fc.array(text) }) }),
    fc.record({
      case: fc.constant("inference" as const),
      value: fc.record({ promptHash: bytes, temperatureScaled: fc.nat() }),
    }),
    fc.record({ case: fc.constant("call" as const), value: fc.record({ name: text, input: bytes }) }),
    fc.record({ case: fc.constant("cancel" as const), value: fc.record({ requestId: text }) }),
  );
  fc.assert(
    fc.property(fc.record({ requestId: text, sessionToken: text, dedupeKey: text, tool }), (init) => {
      const request = create(ToolRequestSchema, init);
      const json = JSON.stringify(toJson(ToolRequestSchema, request));
      assert.deepEqual(Buffer.from(encode(parseRequestJson(utf8(json)))), Buffer.from(encode(request)));
    }),
  );
});
