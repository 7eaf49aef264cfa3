import assert from "node:assert/strict";
import { test } from "node:test";
import { ProblemList } from "./problem-list.ts";

test("keeps a hundred problems, of the lowest records, and counts all", () => {
  const problems = new ProblemList();
  for (let index = 500; index > 0; index--) problems.add("hash_mismatch", { index, chain: "system" }, "x");
  assert.equal(problems.count, 500);
  assert.deepEqual(
    problems.list().map((problem) => problem.recordIndex),
    Array.from({ length: 100 }, (_, i) => i + 1),
  );
});

test("problems of one record keep the order in which they were found", () => {
  const problems = new ProblemList();
  problems.add("call_order", { index: 3, chain: "system" }, "first");
  problems.add("content_missing", { index: 3, chain: "system" }, "second");
  problems.add("index_gap", { index: 1, chain: "" }, "earliest");
  assert.deepEqual(
    problems.list().map((problem) => problem.message),
    ["earliest", "first", "second"],
  );
});

test("truncates a chain's name, whatever a ledger calls it", () => {
  const problems = new ProblemList();
  problems.add("hash_mismatch", { index: 0, chain: "x".repeat(100_000) }, "x");
  assert.equal(problems.list()[0]?.chain.length, 256);
});

test("distinguishes the kinds of problems", () => {
  const problems = new ProblemList();
  problems.add("index_gap", { index: 0, chain: "" }, "x");
  assert.equal(problems.has("completeness"), true);
  assert.equal(problems.has("integrity"), false);
});
