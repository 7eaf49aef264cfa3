import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { createViolationWindow, DEFAULT_VIOLATION_WINDOW, isContainmentViolation } from "./violation-window.ts";

test("invalid input and refusals are not containment violations", () => {
  for (const code of ["INVALID_INPUT", "INVALID_REQUEST", "NO_MATCHING_RULE", "TIMEOUT", "EXECUTION_FAILED", ""]) {
    assert.equal(isContainmentViolation(code), false);
  }
  assert.equal(isContainmentViolation("UNDECLARED_EFFECT"), true);
});

test("four violations within a minute, or five over a longer time, stay below the limit", () => {
  const four = createViolationWindow(DEFAULT_VIOLATION_WINDOW);
  assert.deepEqual(
    [0, 1, 2, 3].map((moment) => four.note(moment)),
    [false, false, false, false],
  );
  const spread = createViolationWindow(DEFAULT_VIOLATION_WINDOW);
  assert.equal(
    [0, 15_001, 30_002, 45_003, 60_004, 75_005].some((moment) => spread.note(moment)),
    false,
  );
});

test("the fifth violation within a minute reaches the limit, for good", () => {
  const window = createViolationWindow(DEFAULT_VIOLATION_WINDOW);
  assert.deepEqual(
    [0, 1, 2, 3, 60_000].map((moment) => window.note(moment)),
    [false, false, false, false, true],
  );
  assert.equal(window.note(10_000_000), true);
});

test("reaches the limit exactly when some window holds that many violations", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40), { maxLength: 20 }), fc.integer({ min: 1, max: 5 }), (gaps, limit) => {
      const window = createViolationWindow({ limit, windowMs: 60 });
      const moments: number[] = [];
      let nowMs = 0;
      let expected = false;
      for (const gap of gaps) {
        nowMs += gap;
        moments.push(nowMs);
        expected ||= moments.filter((moment) => nowMs - moment <= 60).length >= limit;
        assert.equal(window.note(nowMs), expected);
      }
    }),
  );
});
