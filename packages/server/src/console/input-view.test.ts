import assert from "node:assert/strict";
import { test } from "node:test";
import { toInputView, toJsonView } from "./input-view.ts";
import { toTextPartView, toTextView } from "./text-view.ts";

const LIMITS = { maxShownCharacters: 10, maxShownFields: 2 };

test("counts the omitted part of an input, and shows all of it on request", () => {
  const input = { command: "x".repeat(25), cwd: "src", env: "y" };
  const shown = toInputView(input, LIMITS);
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
    const part = toJsonView(input, text.length, LIMITS);
    assert.ok(typeof part.text === "string" && part.shown > 0);
    text += part.text;
    size = part.size;
  }
  assert.deepEqual(JSON.parse(text), input);
  assert.equal(shown.bytes, text.length);
});

test("shows short members first, so that a long one hides no command", () => {
  const { fields } = toInputView({ env: "x".repeat(100), command: "rm -rf" }, LIMITS);
  assert.deepEqual(
    fields.map(({ name, shown, size }) => [name, shown, size]),
    [
      ["env", 4, 100],
      ["command", 6, 6],
    ],
  );
});

test("shows texts literally, and everything else as JSON", () => {
  const { fields } = toInputView({ a: "line 1\nline 2", b: { c: ["\n"] } }, { ...LIMITS, maxShownCharacters: 100 });
  assert.deepEqual(
    fields.map(({ text, isText }) => [text, isText]),
    [
      ["line 1\nline 2", true],
      ['{\n  "c": [\n    "\\n"\n  ]\n}', false],
    ],
  );
  assert.deepEqual(toInputView("bare", LIMITS).fields[0]?.text, "bare");
});

test("never cuts inside a character", () => {
  assert.deepEqual(toTextPartView("ab\u{1f680}c", 0, 3), { text: "ab", size: 5, shown: 2 });
  assert.deepEqual(toTextPartView("ab\u{1f680}c", 2, 3), { text: "\u{1f680}c", size: 5, shown: 3 });
});

test("plain text stays a string, marked text becomes parts", () => {
  assert.equal(toTextView("<script>alert(1)</script>"), "<script>alert(1)</script>");
  assert.equal(toTextView(""), "");
  assert.equal(toTextView("\u202e").length, 1);
  assert.equal(typeof toTextView("\u202e"), "object");
});
