import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cutText, visible, visibleJson, visibleLines } from "./visible.ts";

describe("visible", () => {
  it("shows terminal control sequences instead of sending them", () => {
    assert.equal(visible("\u001b[2J\u009b31m\u0007"), "\\u001b[2J\\u009b31m\\u0007");
  });

  it("shows bidi overrides and isolates", () => {
    assert.equal(visible("a\u202eb\u2066c\u200fd"), "a\\u202eb\\u2066c\\u200fd");
  });

  it("shows zero-width, filler and tag characters", () => {
    assert.equal(visible("a\u200b\u200d\ufeff\u3164"), "a\\u200b\\u200d\\ufeff\\u3164");
    assert.equal(visible("\u{e0041}"), "\\u{e0041}");
  });

  it("shows lone surrogates and line separators", () => {
    assert.equal(visible("\ud800\u2028"), "\\ud800\\u2028");
  });

  it("shows line feeds where a single line is due, and keeps them in text of many lines", () => {
    assert.equal(visible("a\r\n\tb"), "a\\r\\n\\tb");
    assert.equal(visibleLines("a\n\tb\r"), "a\n\tb\\r");
  });

  it("leaves letters, marks and emoji of any script alone", () => {
    const text = "naïve Ελλάδα 日本語 ‘quoted’ 🚀";
    assert.equal(visible(text), text);
  });

  it("keeps the value of JSON text", () => {
    const value = { text: "\u202e\u0000\u{e0041}\ud800é" };
    const json = visibleJson(JSON.stringify(value));
    assert.match(json, /\\u202e/);
    assert.match(json, /\\udb40\\udc41/);
    assert.deepEqual(JSON.parse(json), value);
  });

  it("keeps the layout of indented JSON text", () => {
    assert.equal(visibleJson('{\n  "a": 1\n}'), '{\n  "a": 1\n}');
  });
});

describe("cutText", () => {
  it("cuts by character and says so", () => {
    assert.equal(cutText("🚀🚀🚀🚀", 3), "🚀🚀…");
    assert.equal(cutText("abc", 3), "abc");
  });
});
