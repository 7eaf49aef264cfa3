import assert from "node:assert/strict";
import { test } from "node:test";
import * as limits from "./limits.ts";

test("the eleven constants of the wire have their values", () => {
  const { MAX_ID_LEN, MAX_PATH_LEN, MAX_READ_LIMIT, MAX_WRITE_SIZE, MAX_EDIT_SIZE, MAX_COMMAND_LEN } = limits;
  const { MAX_TIMEOUT_MS, MAX_ARG_LEN, MAX_TOKENS, HASH_SIZE, MAX_REPEATED_ITEMS } = limits;
  assert.deepEqual(
    [MAX_ID_LEN, MAX_PATH_LEN, MAX_READ_LIMIT, MAX_WRITE_SIZE, MAX_EDIT_SIZE, MAX_COMMAND_LEN],
    [256, 4096, 1_073_741_824, 104_857_600, 10_485_760, 1_048_576],
  );
  assert.deepEqual(
    [MAX_TIMEOUT_MS, MAX_ARG_LEN, MAX_TOKENS, HASH_SIZE, MAX_REPEATED_ITEMS],
    [3_600_000, 32_768, 1_000_000, 32, 1000],
  );
});

test("a frame holds the largest request of any variant", () => {
  const room = 64 * 1024;
  assert.ok(limits.MAX_WRITE_SIZE + room < limits.MAX_FRAME_BYTES);
  assert.ok(limits.MAX_CALL_INPUT_BYTES + room < limits.MAX_FRAME_BYTES);
  assert.ok(limits.MAX_REPEATED_ITEMS * (limits.MAX_ARG_LEN + 5) + limits.MAX_COMMAND_LEN < limits.MAX_FRAME_BYTES);
});

test("the logical clock begins with the year 2000", () => {
  assert.equal(limits.LOGICAL_EPOCH_MS, Date.UTC(2000, 0, 1));
});
