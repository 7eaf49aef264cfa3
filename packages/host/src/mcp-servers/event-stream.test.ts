import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventStream } from "./event-stream.ts";

function read(text: string, pieces = text.length, maxBytes = 1000): string[] {
  const found: string[] = [];
  const stream = new EventStream({
    maxBytes,
    onData: (data) => found.push(data.toString("utf8")),
    onTooLong: () => found.push("too long"),
  });
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += pieces) stream.take(bytes.subarray(from, from + pieces));
  return found;
}

describe("a stream of events", () => {
  const CASES: readonly (readonly [string, string, readonly string[]])[] = [
    ["lets go of an event that was not ended", "data: a\n", []],
    ["knows no data in remarks, ids and empty events", ": data: a\n\nid: 1\n\ndata\n\ndata:\n\ndatum: a\n\n", []],
    ["takes no events of another name", "event: other\ndata: a\n\ndata: b\n\n", ["b"]],
    ["joins lines of data, and takes one blank from their beginning", "data: a\ndata:  b\ndata:c\n\n", ["a\n b\nc"]],
    ["ends lines by either sign, or both", "data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: é\r\n\n", ["a", "b", "c", "é"]],
    ["takes a message by its name", "event: message\nid: 2\nretry: 5\ndata: a\n\n", ["a"]],
  ];
  for (const [name, text, found] of CASES) {
    it(name, () => {
      for (const pieces of [1, 2, 3, text.length]) assert.deepEqual(read(text, pieces), found, String(pieces));
    });
  }

  it("knows where to go on, and after how long, unless no header could say so", () => {
    const ended = (text: string): [string | undefined, number | undefined] => {
      const stream = new EventStream({ maxBytes: 5000, onData: () => undefined, onTooLong: () => undefined });
      stream.take(Buffer.from(text));
      return [stream.lastId, stream.retryMs];
    };
    assert.deepEqual(ended("data: a\n\n"), [undefined, undefined]);
    assert.deepEqual(ended("id: 1\nretry: 20\ndata: a\n\nid: 2/b c\n\n"), ["2/b c", 20]);
    assert.deepEqual(ended("id: 1\nid: a\0b\nretry: soon\n\n"), [undefined, undefined]);
    assert.deepEqual(ended(`id: ${"x".repeat(1025)}\nretry: 99999999999\n\n`), [undefined, 999_999]);
  });

  it("keeps no more than its bound, in one line or in many, and says nothing after it", () => {
    assert.deepEqual(read(`data: ${"x".repeat(200)}\n\ndata: a\n\n`, 7, 100), ["too long"]);
    assert.deepEqual(read(`${"data: xxxxxxxxx\n".repeat(20)}\ndata: a\n\n`, 7, 100), ["too long"]);
    assert.deepEqual(read(`: ${"x".repeat(200)}\n`, 7, 100), ["too long"]);
  });
});
