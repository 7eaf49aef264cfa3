import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { utf8 } from "@narthex/contracts";
import * as fc from "fast-check";
import { EventReader } from "./event-reader.ts";

function read(...pieces: readonly (string | Uint8Array)[]): string[] {
  const reader = new EventReader();
  const events = pieces.flatMap((piece) => reader.push(typeof piece === "string" ? utf8(piece) : piece));
  return [...events, ...reader.end()];
}

/** The same bytes in pieces that end at these places. */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

describe("server-sent events", () => {
  it("are refused if they do not end, are no UTF-8, or are cut inside a character", () => {
    const endless = "x".repeat(1024 * 1024);
    const reader = new EventReader();
    assert.throws(() => {
      for (let n = 0; n < 8; n++) reader.push(utf8(`data: ${endless}`));
    }, /one event of more than/);
    const many = new EventReader();
    assert.throws(() => {
      for (let n = 0; n < 8; n++) many.push(utf8(`data: ${endless}\n`));
    }, /one event of more than/);
    const code = { code: "UPSTREAM_ERROR" };
    assert.throws(() => read(Uint8Array.from([0x64, 0xff, 0x0a])), code);
    assert.throws(() => read(utf8("data: ä").subarray(0, -1)), code);
    assert.throws(() => read("data: \u{1f432}\n\n".slice(0, 6), Uint8Array.from([0xf0, 0x9f])), code);
  });

  it("end with an empty line, whatever ends a line", () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      assert.deepEqual(read(`data: a${end}${end}data: b${end}${end}`), ["a", "b"], JSON.stringify(end));
      assert.deepEqual(read(`data: a${end}${end}data: b${end}`), ["a", "b"], JSON.stringify(end));
      assert.deepEqual(read(`data: a${end}${end}data: b`), ["a", "b"], JSON.stringify(end));
    }
  });

  it("have their lines of data joined, one space after the colon left out, and other fields passed over", () => {
    assert.deepEqual(read("data: a\ndata:b\ndata:  c\ndata\n\n"), ["a\nb\n c\n"]);
    assert.deepEqual(read(": a comment\n\nevent: ping\nid: 1\nretry: 5\n\n:\n\ndata\n\ndata: a\n:c\n\n"), ["a"]);
    assert.deepEqual(read("\ufeffdata: a\n\n"), ["a"]);
    assert.deepEqual(read("DATA: a\n\n data: b\n\ndatas: c\n\n"), []);
  });

  it("leave lines that belong to none to be looked at, up to a bound", () => {
    const reader = new EventReader();
    reader.push(utf8('data: a\n\n{\n"error": 1}\n'));
    assert.deepEqual(JSON.parse(reader.stray), { error: 1 });
    for (let n = 0; n < 100; n++) reader.push(utf8(`${"x".repeat(1000)}\n`));
    assert.equal(reader.stray.length, 16 * 1024);
  });

  it("are the same however their bytes are cut", () => {
    const line = fc.oneof(
      fc.constantFrom("", "data", "data:", ": ping", "event: x", "stray {", 'data: {"a": [1]}', "data: [DONE]"),
      fc.string({ unit: "grapheme" }).map((text) => `data: ${text.replaceAll(/[\r\n\0]/g, "")}`),
    );
    const lines = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 20 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(), { maxLength: 12 }), (given, places) => {
        const bytes = utf8(given.flat().join(""));
        assert.deepEqual(read(...cutAt(bytes, places)), read(bytes));
        const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
        assert.deepEqual(read(...single), read(bytes));
      }),
      { numRuns: 300 },
    );
  });

  it("take no longer for coming byte by byte", () => {
    const reader = new EventReader();
    const byte = utf8("x");
    reader.push(utf8("data: "));
    for (let n = 0; n < 100_000; n++) reader.push(byte);
    assert.equal(reader.end()[0]?.length, 100_000);
  });
});
