import assert from "node:assert/strict";
import { it } from "node:test";
import { exampleLines, helpEpilogue } from "./help-text.ts";

const EXAMPLE = `narthex call echo '{"text": "hello to all"}' --session ses_abcdefghij234567abcd --request-id first`;

it("wraps help to the terminal, and not where the output is no terminal", () => {
  for (const width of [50, 80, 120]) {
    for (const text of [helpEpilogue(width), exampleLines([EXAMPLE], width)]) {
      for (const line of text.split("\n")) assert.ok(line.length <= width, `${width}: ${line}`);
    }
  }
  assert.equal(exampleLines([EXAMPLE], undefined), `\nExample:\n  $ ${EXAMPLE}`);
});

it("breaks a long example with shell continuations, and never inside quotes", () => {
  assert.deepEqual(exampleLines([EXAMPLE], 60).split("\n").slice(2), [
    `  $ narthex call echo '{"text": "hello to all"}' \\`,
    "      --session ses_abcdefghij234567abcd --request-id first",
  ]);
});
