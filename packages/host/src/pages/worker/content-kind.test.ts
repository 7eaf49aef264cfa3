import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { contentKind } from "./content-kind.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

describe("what a page is", () => {
  for (const [name, type, bytes] of [
    ["an image", "image/png", PNG],
    ["an image that is called a page", "text/html; charset=utf-8", PNG],
    ["an image that is called JSON", "application/json", PNG],
    ["a document that is called text", "text/plain", Buffer.from("%PDF-1.7\n1 0 obj")],
    ["an archive without a type", undefined, Buffer.from("PK\x03\x04rest")],
    ["bytes that are called text", "text/plain", Buffer.from("ab\0cd")],
    ["mostly control characters that are called a page", "text/html", Buffer.from("\x01\x02\x03\x04abcd")],
    ["text that is called an image", "image/jpeg", Buffer.from("hello")],
    ["text of a type nobody knows", "application/x-own", Buffer.from("hello")],
  ] as const) {
    it(`is no text: ${name}`, () => assert.equal(contentKind(type, bytes), undefined));
  }

  for (const [type, text, kind] of [
    ["text/html", "plain words", "html"],
    ["TEXT/HTML; charset=x", "<p>", "html"],
    ["application/xhtml+xml", "<html/>", "html"],
    ["text/html", `<p>one \0 stray byte in a page that is otherwise text`, "html"],
    ["application/json", "{}", "json"],
    ["application/problem+json", "{}", "json"],
    ["application/rss+xml", "<rss/>", "xml"],
    ["image/svg+xml", "<svg/>", "xml"],
    ["text/plain", "<html>", "text"],
    ["text/markdown", "# x", "text"],
    ["application/javascript", "x()", "text"],
    [undefined, " \n<!DOCTYPE html><p>", "html"],
    ["application/octet-stream", "<html >", "html"],
    [undefined, '<?xml version="1.0"?>', "xml"],
    [undefined, ' {"a": 1}', "json"],
    [undefined, "just words", "text"],
    [undefined, "", "text"],
  ] as const) {
    it(`is ${kind}: ${type ?? "nothing said"} with ${JSON.stringify(text)}`, () =>
      assert.equal(contentKind(type, Buffer.from(text)), kind));
  }

  it("is text where wide characters have zeros in them", () => {
    const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("hello", "utf16le")]);
    assert.equal(contentKind("text/plain", wide), "text");
    assert.equal(contentKind("text/plain; charset=utf-16le", Buffer.from("hello", "utf16le")), "text");
  });
});
