import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatBytes, formatCount, formatDuration, formatTime, parseCount, parseDurationMs } from "./units.ts";

describe("parseDurationMs", () => {
  it("refuses what is no duration, zero included", () => {
    for (const text of ["", "8 h", "-1s", "1.5h", "8x", "0", "99999999999999d", "1e3", "h"]) {
      assert.equal(parseDurationMs(text), undefined, text);
    }
  });

  it("reads units, and milliseconds without one", () => {
    assert.deepEqual(
      ["250", "250ms", "90s", "30m", "8h", "2d"].map(parseDurationMs),
      [250, 250, 90_000, 1_800_000, 28_800_000, 172_800_000],
    );
  });
});

describe("parseCount", () => {
  it("refuses signs, fractions and what a number cannot hold", () => {
    for (const text of ["", "-1", "+1", "1.0", "0x10", "9007199254740992"]) assert.equal(parseCount(text), undefined);
    assert.equal(parseCount("9007199254740991"), 9007199254740991);
  });
});

describe("formats for people", () => {
  it("groups digits", () => {
    assert.equal(formatCount(1234567n), "1,234,567");
    assert.equal(formatCount(123), "123");
  });

  it("names sizes", () => {
    assert.deepEqual([0, 1023, 1536, 3 * 1024 * 1024].map(formatBytes), ["0 B", "1023 B", "1.5 KB", "3.0 MB"]);
  });

  it("names times in UTC and survives impossible ones", () => {
    assert.equal(formatTime(0n), "1970-01-01 00:00:00Z");
    assert.equal(formatTime(18446744073709551615n), "18446744073709551615 ms");
  });

  it("names durations by their largest units", () => {
    assert.deepEqual([12, 2500, 61_000, 28_799_000, 260_000_000].map(formatDuration), [
      "12 ms",
      "2 s",
      "1 min 1 s",
      "7 h 59 min",
      "3 d 0 h",
    ]);
  });
});
