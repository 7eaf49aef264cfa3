import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PROBLEM_KINDS } from "./problem.ts";

test("the specification lists exactly the problems of the code, with their kinds", () => {
  const page = readFileSync(new URL("../../../docs/formats/ledger.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (integrity|completeness) \|/gm)];
  assert.deepEqual(Object.fromEntries(rows.map(([, code, kind]) => [code, kind])), PROBLEM_KINDS);
});
