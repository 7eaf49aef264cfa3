import assert from "node:assert/strict";
import { test } from "node:test";
import { checkWording } from "../../scripts/checks/wording.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

/** Put together here so that this file passes the check it is about. */
const planted = (...parts: string[]): string => parts.join("");

const BAD: Readonly<Record<string, string>> = {
  "src/later.ts": planted("// TO", "DO: later"),
  "docs/later.md": planted("FIX", "ME"),
  "src/a.test.ts": planted("test.on", 'ly("a", () => {});'),
  "src/b.test.ts": planted("describe.sk", 'ip("a", () => {});'),
  "src/c.test.ts": planted('test("a", { sk', "ip: true }, () => {});"),
  "src/utils.ts": "",
  "src/string-helpers.ts": "",
  "src/common/thing.ts": "",
  "src/session-manager.ts": "",
  "docs/download.md": planted("from registry.", "npmjs.org"),
};

test("every forbidden word and name is found", (context) => {
  const { details } = checkWording(createTemporaryTree(context, BAD));
  const found = details.split("\n").map((line) => line.replace(/:.*/, ""));
  assert.deepEqual(found.toSorted(), Object.keys(BAD).toSorted());
});

test("ordinary words, generated code and other people's packages pass", (context) => {
  const root = createTemporaryTree(context, {
    "src/reader.ts": "reader.skip(wireType); // commonly",
    "src/community.ts": "export const only = true;",
    "src/gen/a.ts": planted("// TO", "DO"),
    "node_modules/a/utils.js": planted("// FIX", "ME"),
  });
  assert.equal(checkWording(root).details, "");
});
