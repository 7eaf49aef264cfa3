import assert from "node:assert/strict";
import { test } from "node:test";
import { markdownText } from "./markdown-text.ts";

test("links and images become their text, and links are told once each", () => {
  const { text, links } = markdownText(
    [
      "# Title",
      'See [the *docs*](https://a.test/docs "Docs") and [again](https://a.test/docs).',
      "[![build](https://a.test/badge.svg)](https://a.test/ci)",
      "[wiki](https://a.test/x_(y)) [esc](https://a.test/a\\)b) [angled](<https://a.test/c d>)",
      "[mail](mailto:a@a.test) [script](javascript:alert(1)) [local](/x) ![only](https://a.test/i.png)",
      "a [bracket] and \\[escaped\\](https://no.test/) 2 \\* 3 and **bold** _it_ snake_case_name",
    ].join("\n"),
  );
  assert.deepEqual(links, [
    { text: "the docs", url: "https://a.test/docs" },
    { text: "build", url: "https://a.test/ci" },
    { text: "wiki", url: "https://a.test/x_(y)" },
    { text: "esc", url: "https://a.test/a)b" },
    { text: "angled", url: "https://a.test/c%20d" },
  ]);
  assert.equal(
    text,
    [
      "Title",
      "See the docs and again.",
      "build",
      "wiki esc angled",
      "mail script local only",
      "a [bracket] and [escaped](https://no.test/) 2 * 3 and bold it snake_case_name",
    ].join("\n"),
  );
});

test("code stays as it is", () => {
  const { text, links } = markdownText("before **x**\n```py\ndef __init__(a): # [x](https://no.test/)\n```\nafter");
  assert.match(text, /before x\n\ndef __init__\(a\): # \[x\]\(https:\/\/no\.test\/\)\n\nafter/);
  assert.deepEqual(links, []);
});

test("what is no link is left standing", () => {
  for (const markdown of ["[a](https://a.test/", "[a]", "a](b)", "[a](b\nc)", '[a](b "c', "[", "![", "](", ""]) {
    assert.deepEqual(markdownText(markdown), { text: markdown, links: [] }, markdown);
  }
});

test("a page made of brackets takes no longer than any other of its size", { timeout: 60_000 }, () => {
  for (const piece of ["[](", "[[", "]](", "![", '[a](b "', "[a](<", "*_", "\\[", "](", "- ", "[](https://a.test/)"]) {
    const { links } = markdownText(piece.repeat(50_000));
    assert.ok(links.length <= 500);
  }
});
