import assert from "node:assert/strict";
import { test } from "node:test";
import { findCode, isErrorCode, isRationaleCode } from "./code.ts";
import { ERROR_CODES } from "./error-codes.ts";
import { HOST_CODES } from "./host-codes.ts";
import { RATIONALE_CODES } from "./rationale-codes.ts";
import { REGISTRATION_CODES } from "./registration-codes.ts";

const TABLES = [ERROR_CODES, RATIONALE_CODES, REGISTRATION_CODES, HOST_CODES];
const SUBCOMMANDS =
  /`narthex (?:serve|session open|tools (?:list|show)|ledger (?:list|show|verify|checkpoint|rotate-key)|policy (?:check|reload)|session list|cas put|journal|init|backup|doctor|approvals (?:list|approve))\b/g;

test("a code of a rule's own is in no table", () => {
  assert.equal(findCode("SHELL_EXEC_DENIED"), undefined);
  assert.equal(findCode("toString"), undefined);
  assert.equal(isErrorCode("CAPABILITY_MISSING"), false);
  assert.equal(isErrorCode("__proto__"), false);
  assert.equal(isRationaleCode("TIMEOUT"), false);
});

test("every code says what happened and what to do next, in lower case and on one line", () => {
  for (const table of TABLES) {
    for (const [code, facts] of table) {
      assert.match(code, /^[A-Z]+(?:_[A-Z]+)*$/);
      for (const sentence of [facts.meaning, facts.next]) {
        assert.ok(sentence.length >= 15, `${code}: too short to help`);
        assert.match(sentence, /^[a-z][^\n]*[^.\s]$/, code);
      }
      assert.notEqual(facts.next, facts.meaning, code);
    }
  }
});

test("every command that a code names is one the command line has", () => {
  for (const table of TABLES) {
    for (const [code, { next }] of table) {
      assert.equal(next.match(/`narthex /g)?.length, next.match(SUBCOMMANDS)?.length, code);
    }
  }
});

test("no code stands in two tables", () => {
  const codes = TABLES.flatMap((table) => [...table.keys()]);
  assert.equal(new Set(codes).size, codes.length);
  for (const code of codes) assert.ok(findCode(code));
});

test("the lists are complete", () => {
  assert.deepEqual(
    TABLES.map((table) => table.size),
    [34, 17, 2, 23],
  );
  assert.equal(isErrorCode("APPROVAL_PENDING"), true);
  assert.equal(isRationaleCode("NO_MATCHING_RULE"), true);
});

test("nothing that may have had an effect is retryable", () => {
  for (const code of ["TIMEOUT", "CANCELLED", "OUTCOME_UNKNOWN", "INVALID_OUTPUT", "EXECUTION_FAILED", "INTERNAL"]) {
    assert.equal(findCode(code)?.retryable, false, code);
  }
  assert.equal(findCode("RATE_LIMITED")?.retryable, true);
});
