import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { escapedText, markedLine, markedLines } from "./marked-text.ts";
import { createPaint } from "./paint.ts";

const plain = createPaint({ isTTY: false }, {});

describe("an agent's text in an approval request", () => {
  it("sends no invisible character to the terminal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const line of markedLines(text, plain)) {
          assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
          assert.match(line, /^ {2}\| /);
        }
        assert.doesNotMatch(markedLine(text, plain), /\n/);
      }),
    );
  });

  it("shows terminal sequences, bidi overrides, zero-width characters and line feeds by their code points", () => {
    assert.equal(markedLine("a\u001b[2Jb\u202ec\u200bd\ne", plain), "a[\\u{1b}][2Jb[\\u{202e}]c[\\u{200b}]d\\ne");
  });

  it("marks letters of another script in a word, full-width separators and no-break spaces", () => {
    assert.equal(markedLine("g\u0456t", plain), "g\u0456[\\u{456}]t");
    assert.equal(markedLine("ls\uff1brm", plain), "ls\uff1b[\\u{ff1b}]rm");
    assert.equal(markedLine("a\u00a0b", plain), "a[\\u{a0}]b");
  });

  it("counts blanks that would push text out of view", () => {
    assert.equal(markedLine(`ls${" ".repeat(500)}; rm x`, plain), "ls[\\u{20}*500]; rm x");
    assert.equal(markedLine("ls\t\t; rm", plain), "ls[\\u{9}*2]; rm");
  });

  it("puts a bar before each line, so that none looks like the program's own", () => {
    assert.deepEqual(markedLines("ls\nMay this run?", plain), ["  | ls", "  | May this run?"]);
  });

  it("prints text that is not ASCII in ASCII as well", () => {
    assert.equal(escapedText("ls -la\n"), undefined);
    assert.equal(escapedText("l\u0455 é\u{1f680}"), "l\\u{455} \\u{e9}\\u{1f680}");
  });
});
