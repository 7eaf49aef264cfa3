import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPaint } from "./paint.ts";

describe("createPaint", () => {
  it("writes plain text without a terminal", () => {
    assert.equal(createPaint({}, {}).red("x"), "x");
  });

  it("writes plain text if NO_COLOR is set or the terminal is dumb", () => {
    assert.equal(createPaint({ isTTY: true }, { NO_COLOR: "1" }).red("x"), "x");
    assert.equal(createPaint({ isTTY: true }, { TERM: "dumb" }).red("x"), "x");
  });

  it("uses colour on a terminal, also if NO_COLOR is empty", () => {
    assert.equal(createPaint({ isTTY: true }, { NO_COLOR: "" }).red("x"), "\u001b[31mx\u001b[39m");
  });
});
