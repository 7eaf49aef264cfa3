import assert from "node:assert/strict";
import { test } from "node:test";
import { shownInput, shownJson } from "./shown-input.ts";
import { shownPart, shownText } from "./shown-text.ts";

const LIMITS = { maxShownCharacters: 10, maxShownFields: 2 };

test("what is cut is counted, and all of it can be asked for", () => {
  const input = { command: "x".repeat(25), cwd: "src", env: "y" };
  const shown = shownInput(input, LIMITS);
  assert.deepEqual(
    shown.fields.map(({ name, size, shown: part }) => [name, size, part]),
    [
      ["command", 25, 7],
      ["cwd", 3, 3],
    ],
  );
  assert.equal(shown.moreFields, 1);
  let text = "";
  for (let size = 1; text.length < size; ) {
    const part = shownJson(input, text.length, LIMITS);
    assert.ok(typeof part.text === "string" && part.shown > 0);
    text += part.text;
    size = part.size;
  }
  assert.deepEqual(JSON.parse(text), input);
  assert.equal(shown.bytes, text.length);
});

test("what is short is shown first, wherever it stands: a long member hides no command", () => {
  const { fields } = shownInput({ env: "x".repeat(100), command: "rm -rf" }, LIMITS);
  assert.deepEqual(
    fields.map(({ name, shown, size }) => [name, shown, size]),
    [
      ["env", 4, 100],
      ["command", 6, 6],
    ],
  );
});

test("texts are shown as they are, everything else as JSON", () => {
  const { fields } = shownInput({ a: "line 1\nline 2", b: { c: ["\n"] } }, { ...LIMITS, maxShownCharacters: 100 });
  assert.deepEqual(
    fields.map(({ text, isText }) => [text, isText]),
    [
      ["line 1\nline 2", true],
      ['{\n  "c": [\n    "\\n"\n  ]\n}', false],
    ],
  );
  assert.deepEqual(shownInput("bare", LIMITS).fields[0]?.text, "bare");
});

test("a cut never goes through a character", () => {
  assert.deepEqual(shownPart("ab\u{1f680}c", 0, 3), { text: "ab", size: 5, shown: 2 });
  assert.deepEqual(shownPart("ab\u{1f680}c", 2, 3), { text: "\u{1f680}c", size: 5, shown: 3 });
});

test("plain text stays a string, marked text becomes parts", () => {
  assert.equal(shownText("<script>alert(1)</script>"), "<script>alert(1)</script>");
  assert.equal(shownText(""), "");
  assert.equal(shownText("\u202e").length, 1);
  assert.equal(typeof shownText("\u202e"), "object");
});
