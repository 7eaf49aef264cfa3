import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PROBLEM_KINDS } from "./problem.ts";

test("every problem is in the specification, with its kind, and no other", () => {
  const page = readFileSync(new URL("../../../docs/formats/ledger.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (integrity|completeness) \|/gm)];
  assert.deepEqual(Object.fromEntries(rows.map(([, code, kind]) => [code, kind])), PROBLEM_KINDS);
});
