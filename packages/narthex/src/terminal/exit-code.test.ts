import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ERROR_CODES, RATIONALE_CODES } from "@narthex/contracts";
import { exitCodeOf } from "./exit-code.ts";

describe("exitCodeOf", () => {
  it("ends every denial with 3", () => {
    for (const code of RATIONALE_CODES.keys()) assert.equal(exitCodeOf(code), 3, code);
  });

  it("ends invalid input with 4, an absent kernel with 5 and every other error of a call with 1", () => {
    for (const code of ERROR_CODES.keys()) {
      if (code === "PROTECTION_FAILED") continue;
      const expected =
        code === "INVALID_INPUT" || code === "INVALID_REQUEST" ? 4 : code === "STORE_UNAVAILABLE" ? 5 : 1;
      assert.equal(exitCodeOf(code), expected, code);
    }
    assert.equal(exitCodeOf("KERNEL_UNREACHABLE"), 5);
  });

  it("ends a failed protection with 6", () => {
    assert.equal(exitCodeOf("PROTECTION_FAILED"), 6);
  });

  it("ends unknown codes with 1", () => {
    assert.equal(exitCodeOf("SOMETHING_ELSE"), 1);
  });
});
