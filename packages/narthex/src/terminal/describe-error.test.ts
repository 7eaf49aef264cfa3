import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ERROR_CODES, HOST_CODES, KernelError, RATIONALE_CODES, REGISTRATION_CODES } from "@narthex/contracts";
import { CommandError, usageError } from "./command-error.ts";
import { describeError } from "./describe-error.ts";
import { formatViolations } from "./violation-lines.ts";

describe("describeError", () => {
  it("names the next step for every code", async () => {
    for (const table of [ERROR_CODES, HOST_CODES, RATIONALE_CODES, REGISTRATION_CODES]) {
      for (const [code, { next }] of table) {
        const described = await describeError(new KernelError(code, "it went wrong"), "narthex call");
        assert.deepEqual([described.code, described.next], [code, next]);
        assert.ok(described.exitCode > 0);
      }
    }
  });

  it("prints an unexpected error on one line", async () => {
    const described = await describeError(new Error("boom\n    at somewhere"), "narthex call");
    assert.deepEqual([described.code, described.message, described.exitCode], ["INTERNAL", "boom", 1]);
    assert.equal((await describeError("text", "narthex call")).message, "text");
  });

  it("prefers a command's own advice", async () => {
    assert.equal((await describeError(usageError("wrong", "do this"), "narthex call")).next, "do this");
    assert.match((await describeError(usageError("wrong"), "narthex call")).next, /`narthex call --help`/);
    assert.match(
      (await describeError(new CommandError("RECORD_NOT_FOUND", "none"), "narthex call")).next,
      /ledger list/,
    );
  });
});

it("lists violations unless the message names each with its field", () => {
  const missing = { field: "path", message: "missing required field 'path'" };
  const pattern = { field: "from", message: "must match the pattern `x`" };
  assert.deepEqual(formatViolations("`a`: missing required field 'path'", [missing]), []);
  const place = { field: "a.cedar:1:8", message: "unexpected end of input" };
  assert.deepEqual(formatViolations("a.cedar:1:8: unexpected end of input", [place]), []);
  const both = formatViolations("`a`: missing required field 'path'; must match the pattern `x`", [missing, pattern]);
  assert.deepEqual(both, ["  path: missing required field 'path'", "  from: must match the pattern `x`"]);
});
