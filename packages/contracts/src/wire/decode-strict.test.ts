import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_FRAME_BYTES } from "../limits.ts";
import { decode } from "./codec.ts";
import { DecodeError } from "./decode-error.ts";

/** Builds wire bytes from hex, spaces ignored, and quoted ASCII. */
function wire(source: string): Uint8Array {
  const hex = source.replaceAll(/'([^']*)'/g, (_, ascii: string) => Buffer.from(ascii).toString("hex"));
  return new Uint8Array(Buffer.from(hex.replaceAll(/\s/g, ""), "hex"));
}

/** What is wrong with the bytes, as "field rule". */
function problems(input: Uint8Array | string): string[] {
  try {
    decode(typeof input === "string" ? wire(input) : input);
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    assert.match(error.message, /^the bytes are not a well-formed message[^\n]{0,200}$/);
    return error.violations.map(({ field, rule }) => `${field} ${rule}`);
  }
  return [];
}

describe("fields", () => {
  test("unknown fields are refused at every level, all of them at once", () => {
    assert.deepEqual(problems("20 01"), ["4 unknown_field"]);
    assert.deepEqual(problems("0a01'r' 22 02'ab' 52 05 0a01'a' 20 01"), [
      "4 unknown_field",
      "file_read.4 unknown_field",
    ]);
    assert.deepEqual(problems("8a 01 03 72 01 'x'"), ["call.14 unknown_field"]);
    assert.deepEqual(problems("25 00000000 29 0000000000000000"), ["4 unknown_field", "5 unknown_field"]);
    assert.deepEqual(problems("fa ff ff ff 0f 00"), ["536870911 unknown_field"]);
  });

  test("a singular field given twice is refused, even with the same value", () => {
    assert.deepEqual(problems("0a01'r' 0a01'r'"), ["request_id duplicate"]);
    assert.deepEqual(problems("12 00 12 00"), ["session_token duplicate"]);
    assert.deepEqual(problems("52 06 0a01'a' 0a01'b'"), ["file_read.path duplicate"]);
    assert.deepEqual(problems("52 04 10 00 10 00"), ["file_read.offset duplicate"]);
    assert.deepEqual(problems("52 03 0a01'a' 52 03 0a01'a'"), ["file_read duplicate"]);
  });

  test("two variants of the tool are refused", () => {
    assert.deepEqual(problems("52 03 0a01'a' 6a 03 0a01'l'"), ["shell_exec one_of"]);
    assert.deepEqual(problems("52 00 5a 00 62 00"), ["file_write one_of", "file_edit one_of"]);
    assert.deepEqual(problems("52 00 92 01 00 52 00"), ["cancel one_of", "file_read duplicate"]);
  });

  test("texts that are not UTF-8 are refused by name", () => {
    assert.deepEqual(problems("0a 02 'a' ff"), ["request_id malformed"]);
    assert.deepEqual(problems("52 05 0a 03 ed a0 80"), ["file_read.path malformed"]);
    assert.deepEqual(problems("52 04 0a 02 c0 80"), ["file_read.path malformed"]);
    assert.deepEqual(problems("6a 0c 2a03'A=1' 2a01 ff 2a02 c3 28"), [
      "shell_exec.env[1] malformed",
      "shell_exec.env[2] malformed",
    ]);
    assert.deepEqual(problems(`0a ${(100).toString(16)} ${"61".repeat(99)} ff`), ["request_id malformed"]);
    assert.deepEqual(problems("0a 03 ef bf bd"), []);
  });

  test("a wire type that does not fit its field is refused", () => {
    assert.deepEqual(problems("08 01"), ["request_id malformed"]);
    assert.deepEqual(problems("0d 00000000"), ["request_id malformed"]);
    assert.deepEqual(problems("52 02 12 00"), ["file_read.offset malformed"]);
    assert.deepEqual(problems("50 01"), ["file_read malformed"]);
    assert.deepEqual(problems("6a 02 28 01"), ["shell_exec.env malformed"]);
  });

  test("the field number 0 and unused wire types are refused", () => {
    for (const source of ["00 00", "02 00", "06", "07", "0e", "0f"]) assert.equal(problems(source).length, 1, source);
  });

  test("a list of problems is bounded", () => {
    const found = problems(new Uint8Array(1_000_000).map((_, i) => (i % 2 === 0 ? 0x20 : 0x01)));
    assert.equal(found.length, 100);
  });
});

describe("lengths and numbers", () => {
  test("bytes that break off are refused, naming what was being read", () => {
    assert.deepEqual(problems("0a"), ["request_id malformed"]);
    assert.deepEqual(problems("0a 02 'a'"), ["request_id malformed"]);
    assert.deepEqual(problems("52 03 0a 05 'a'"), ["file_read.path malformed"]);
    assert.deepEqual(problems("52 02 10 80"), ["file_read.offset malformed"]);
    assert.deepEqual(problems("8a"), [" malformed"]);
    assert.deepEqual(problems("52 02 0a01"), ["file_read.path malformed"]);
    assert.deepEqual(problems("22 05 'ab'"), ["4 unknown_field", "4 malformed"]);
    assert.deepEqual(problems("29 0000"), ["5 unknown_field", "5 malformed"]);
  });

  test("a field that reaches beyond its message is refused, though the buffer goes on", () => {
    assert.deepEqual(problems("52 02 0a 03 'abc' 12 01 't'"), ["file_read.path malformed"]);
    assert.deepEqual(problems("52 02 10 80 01"), ["file_read.offset malformed"]);
    assert.deepEqual(problems("52 01 10 01"), ["file_read.offset malformed"]);
  });

  test("a length of 2 GB or more allocates nothing", () => {
    for (const length of ["ff ff ff ff 07", "80 80 80 80 08", "ff ff ff ff 0f"]) {
      assert.deepEqual(problems(`0a ${length} 'a'`), ["request_id malformed"]);
      assert.deepEqual(problems(`52 ${length} 'a'`), ["file_read malformed"]);
    }
  });

  test("numbers that do not fit are refused", () => {
    assert.deepEqual(problems("52 0b 10 ff ff ff ff ff ff ff ff ff 02"), ["file_read.offset malformed"]);
    assert.deepEqual(problems("52 0c 10 ff ff ff ff ff ff ff ff ff ff 01"), ["file_read.offset malformed"]);
    assert.deepEqual(problems("0a 80 80 80 80 10"), ["request_id malformed"]);
    assert.deepEqual(problems("7a 06 28 ff ff ff ff 1f"), ["inference.temperature_scaled malformed"]);
    assert.deepEqual(problems("7a 0b 28 ff ff ff ff ff ff ff ff ff 01"), ["inference.temperature_scaled malformed"]);
    assert.deepEqual(problems("5a 02 18 02"), ["file_write.create_only malformed"]);
    assert.deepEqual(problems("5a 0b 18 ff ff ff ff ff ff ff ff ff 01"), ["file_write.create_only malformed"]);
    assert.deepEqual(problems("fa ff ff ff 1f 00"), [" malformed"]);
  });

  test("a negative number reads as the large unsigned one it is", () => {
    const { tool } = decode(wire("52 0b 10 ff ff ff ff ff ff ff ff ff 01"));
    assert.ok(tool.case === "fileRead");
    assert.equal(tool.value.offset, 2n ** 64n - 1n);
  });

  test("numbers written longer than needed read as themselves", () => {
    const { requestId, tool } = decode(wire("8a 80 80 80 00 81 80 00 'r' 52 84 00 10 85 80 00"));
    assert.ok(tool.case === "fileRead");
    assert.deepEqual([requestId, tool.value.offset], ["r", 5n]);
  });

  test("defaults may be written out", () => {
    assert.deepEqual(problems("0a 00 12 00 1a 00 52 06 0a 00 10 00 18 00"), []);
    assert.deepEqual(problems(new Uint8Array(0)), []);
  });
});

describe("size", () => {
  test("groups are refused at the first, however deep they go", () => {
    assert.deepEqual(problems("23 24"), ["4 unknown_field", "4 malformed"]);
    assert.deepEqual(problems(new Uint8Array(10_000).fill(0x23)), ["4 unknown_field", "4 malformed"]);
    assert.deepEqual(problems("0b 0c"), ["request_id malformed"]);
    assert.deepEqual(problems("52 02 23 24"), ["file_read.4 unknown_field", "file_read.4 malformed"]);
  });

  test("10,000 messages in each other do not use the stack", () => {
    const heads: number[][] = [];
    let length = 0;
    for (let i = 0; i < 10_000; i++) {
      const head = [0x52, (length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14];
      length += head.length;
      heads.push(head);
    }
    assert.deepEqual(problems(Uint8Array.from(heads.toReversed().flat())), ["file_read.10 unknown_field"]);
  });

  test("an endless list is refused before it fills the memory", () => {
    const entries = new Uint8Array(400_000).map((_, i) => (i % 2 === 0 ? 0x2a : 0x00));
    const input = new Uint8Array([0x6a, 0x80, 0xb5, 0x18, ...entries]);
    assert.deepEqual(problems(input), ["shell_exec.env max_items"]);
    const allowed = new Uint8Array([0x6a, 0xc0, 0x9a, 0x0c, ...entries.subarray(0, 200_000)]);
    const { tool } = decode(allowed);
    assert.ok(tool.case === "shellExec");
    assert.equal(tool.value.env.length, 100_000);
  });

  test("more than a frame holds is not looked at", () => {
    assert.deepEqual(problems(new Uint8Array(MAX_FRAME_BYTES + 1)), [" max_length"]);
  });
});
