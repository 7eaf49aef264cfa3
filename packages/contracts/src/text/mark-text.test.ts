import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { markText, unmarkText } from "./mark-text.ts";

/** The text with each mark as `<code point>`, and how often if more than once. */
function shown(text: string): string {
  return markText(text)
    .map((part) => (typeof part === "string" ? part : `<${part.codePoint}${part.count === 1 ? "" : `x${part.count}`}>`))
    .join("");
}

function kinds(text: string): string[] {
  return markText(text).flatMap((part) => (typeof part === "string" ? [] : [part.kind]));
}

describe("markText", () => {
  it("marks bidi overrides and isolates, zero-width characters, tags and controls", () => {
    assert.equal(
      shown("rm \u202etxt.exe\u2066 a\u200bb\u200d\ufeff"),
      "rm <U+202E>txt.exe<U+2066> a<U+200B>b<U+200D><U+FEFF>",
    );
    assert.equal(shown("\u001b[2J\u0007\u{e0041}\u2800\u3164"), "<U+001B>[2J<U+0007><U+E0041><U+2800><U+3164>");
    assert.deepEqual([...new Set(kinds("\u001b\u202e\u200b\u2028\ud800"))], ["hidden"]);
  });

  it("marks letters of another script in a Latin word", () => {
    assert.equal(shown("g\u0456t p\u0443sh"), "g<U+0456>t p<U+0443>sh");
    assert.equal(shown("\u0261it"), "<U+0261>it");
    assert.equal(shown("n\u03bfde"), "n<U+03BF>de");
    assert.deepEqual(kinds("g\u0456t"), ["lookalike"]);
  });

  it("marks a word of another script that looks Latin in every letter", () => {
    assert.equal(shown("\u0441\u0440"), "<U+0441><U+0440>");
  });

  it("marks full-width signs, styled letters and no-break spaces", () => {
    assert.equal(shown("ls\uff1brm"), "ls<U+FF1B>rm");
    assert.equal(shown("\u{1d5cb}m"), "<U+1D5CB>m");
    assert.deepEqual(markText("a\u00a0b")[1], { kind: "blank", character: "\u00a0", codePoint: "U+00A0", count: 1 });
    assert.equal(shown("http:\u2215\u2215x \u2014 \u201cy\u201d"), "http:<U+2215x2>x <U+2014> <U+201C>y<U+201D>");
  });

  it("counts blanks that push words out of view", () => {
    assert.equal(shown(`ls${" ".repeat(400)}; rm`), "ls<U+0020x400>; rm");
    assert.equal(shown(`ls${"\n".repeat(90)}rm`), "ls<U+000Ax90>rm");
    assert.equal(shown("a\t\tb"), "a<U+0009x2>b");
    assert.equal(shown("a\rb"), "a<U+000D>b");
  });

  it("marks stacked combining characters", () => {
    assert.deepEqual(kinds(`e${"\u0301".repeat(9)}`), new Array(9).fill("hidden"));
    assert.deepEqual(kinds("e\u0301"), []);
  });

  it("leaves words of any one script, emoji and layout alone", () => {
    for (const text of ["naïve Ελλάδα привет 日本語 🚀", '{\n  "a": 1\n}\n\n', "git commit -m 'x'", "", "größe_2"]) {
      assert.deepEqual(kinds(text), [], text);
    }
  });

  it("loses nothing: the parts are the text, whatever it is", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom("a", " ", "\n", "\t", "\u202e", "\u0430", "\ud800", "\u0301", "；") }),
    );
    fc.assert(fc.property(text, (given) => unmarkText(markText(given)) === given));
  });

  it("takes time in proportion to the text", () => {
    const start = process.hrtime.bigint();
    for (const unit of ["\u202e", "\u200b\u200c", " ", "a\u0301", "\ud800", "а"]) markText(unit.repeat(100_000));
    assert.ok(process.hrtime.bigint() - start < 10_000_000_000n);
  });
});
