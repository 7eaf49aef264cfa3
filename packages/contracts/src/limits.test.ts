import assert from "node:assert/strict";
import { test } from "node:test";
import * as limits from "./limits.ts";

test("a frame holds the largest request of any variant", () => {
  const room = 64 * 1024;
  assert.ok(limits.MAX_WRITE_SIZE + room < limits.MAX_FRAME_BYTES);
  assert.ok(limits.MAX_CALL_INPUT_BYTES + room < limits.MAX_FRAME_BYTES);
  assert.ok(limits.MAX_REPEATED_ITEMS * (limits.MAX_ARG_LEN + 5) + limits.MAX_COMMAND_LEN < limits.MAX_FRAME_BYTES);
});

test("the logical clock begins with the year 2000", () => {
  assert.equal(limits.LOGICAL_EPOCH_MS, Date.UTC(2000, 0, 1));
});
