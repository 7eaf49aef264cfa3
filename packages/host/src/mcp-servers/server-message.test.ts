import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { LineReader } from "./line-reader.ts";
import { parseServerMessage } from "./server-message.ts";
import { toDisplayText } from "./display-text.ts";
import { serverToolName } from "./tool-name.ts";

const read = (text: string) => parseServerMessage(Buffer.from(text));

describe("a line of a server", () => {
  const BROKEN = [
    '{"jsonrpc":"2.0"',
    '{"jsonrpc":"2.0","id":1,"result":{},"result":{}}',
    '{"jsonrpc":"2.0","id":1,"result":{"n":1e999}}',
    `{"jsonrpc":"2.0","id":1,"result":${"[".repeat(100_000)}`,
    "[]",
    '[{"jsonrpc":"2.0","id":1,"result":{}}]',
    "{}",
    '{"id":1,"result":{}}',
    '{"jsonrpc":"1.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":1}',
    '{"jsonrpc":"2.0","result":{}}',
    '{"jsonrpc":"2.0","id":1,"result":[]}',
    '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"error":"no"}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"no"}}',
  ];
  for (const line of BROKEN) {
    it(`is broken: ${line.slice(0, 80)}`, () => assert.equal(read(line).kind, "broken"));
  }

  it("is noise if it is nothing like a message", () => {
    for (const line of ["", "   ", "ready", "[INFO] ready", "17", '"text"', "null", "\u0000\u0001"]) {
      assert.equal(read(line).kind, "noise", line);
    }
  });

  it("is a request, a notification or an answer otherwise", () => {
    assert.deepEqual(read('{"jsonrpc":"2.0","id":"a","method":"ping"}'), { kind: "request", id: "a", method: "ping" });
    assert.deepEqual(read('{"jsonrpc":"2.0","method":"x","params":{}}'), { kind: "notification", method: "x" });
    assert.deepEqual(read('{"jsonrpc":"2.0","id":1,"result":{"a":1}}'), { kind: "result", id: 1, result: { a: 1 } });
    const error = { kind: "error", id: 1, code: -1, message: "no" };
    assert.deepEqual(read('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}'), error);
  });

  it("never throws, whatever it is", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void parseServerMessage(bytes)));
    fc.assert(fc.property(fc.json(), (json) => void read(json)));
  });
});

describe("lines", () => {
  it("are the same however they are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 8 })), fc.integer({ min: 1, max: 7 }), (texts, size) => {
        const lines = texts.map((text) => text.replaceAll("\n", ""));
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const found: string[] = [];
        const reader = new LineReader({
          maxBytes: 100,
          onLine: (line) => found.push(line.toString()),
          onTooLong: () => assert.fail(),
        });
        for (let at = 0; at < bytes.length; at += size) reader.take(bytes.subarray(at, at + size));
        assert.deepEqual(
          found,
          lines.map((line) => Buffer.from(line).toString()),
        );
      }),
    );
  });

  it("that are too long are told of once, and nothing after them is read", () => {
    let told = 0;
    const found: string[] = [];
    const reader = new LineReader({
      maxBytes: 4,
      onLine: (line) => found.push(line.toString()),
      onTooLong: () => told++,
    });
    for (const chunk of ["abcd\nab", "cde", "f\nab\n"]) reader.take(Buffer.from(chunk));
    assert.deepEqual([found, told], [["abcd"], 1]);
  });
});

describe("a server's words", () => {
  it("show everything that is in them, on one line, and are cut", () => {
    assert.equal(toDisplayText("a\n\u001b[2Jb\u202ec", 100), "a \\u{1b}[2Jb\\u{202e}c");
    assert.equal(toDisplayText("x".repeat(1_000_000), 10), `${"x".repeat(10)}…`);
  });
});

describe("the name of a server's tool", () => {
  it("fits whatever the server calls it", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 128, unit: "grapheme" }), (tool) => {
        assert.match(serverToolName("server", tool), /^server__[a-z0-9_]{1,56}$/);
      }),
    );
    assert.equal(serverToolName("all", "get-sum"), "all__get_sum");
    assert.notEqual(serverToolName("all", "x".repeat(100)), serverToolName("all", "x".repeat(101)));
  });
});
