import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createOptionReader } from "./option-reader.ts";

describe("createOptionReader", () => {
  const options = createOptionReader({
    dedupeKey: "k",
    all: true,
    limit: "12",
    bad: "-3",
    timeout: "2s",
    label: ["a", "b"],
  });

  it("rejects an invalid number or duration, naming the option", () => {
    assert.throws(() => options.count("bad"), { code: "USAGE", message: "--bad takes a whole number, not `-3`" });
    assert.throws(() => options.durationMs("dedupe-key"), /--dedupe-key takes a duration/);
  });

  it("finds options by the names that users type", () => {
    assert.equal(options.text("dedupe-key"), "k");
    assert.equal(options.flag("all"), true);
    assert.equal(options.flag("other"), false);
    assert.equal(options.count("limit"), 12);
    assert.equal(options.durationMs("timeout"), 2000);
    assert.deepEqual(options.texts("label"), ["a", "b"]);
    assert.deepEqual(options.texts("none"), []);
    assert.equal(options.text("none"), undefined);
  });
});
