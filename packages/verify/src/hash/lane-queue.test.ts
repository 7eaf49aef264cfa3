import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, toHex } from "@narthex/contracts";
import * as fc from "fast-check";
import { LANES, MAX_LANE_BYTES } from "./blake3-lanes.ts";
import { LaneQueue } from "./lane-queue.ts";

const TAG = Uint8Array.from({ length: 32 }, (_, i) => i);
const INPUTS = LANES.free;
const OUTPUTS = 256 * 1024;

function openQueue(): LaneQueue {
  const queue = LaneQueue.open(OUTPUTS + 64 * 1024, TAG);
  assert.ok(queue !== undefined, "this Node has no vectors");
  return queue;
}

test("inputs of every length that fits a lane hash as BLAKE3 specifies, whatever surrounds them", () => {
  const queue = openQueue();
  queue.memory.fill(0xa5, INPUTS, OUTPUTS);
  const inputs = Array.from({ length: MAX_LANE_BYTES + 1 }, (_, length) =>
    Uint8Array.from({ length }, (_byte, i) => (i * 31 + length) & 0xff),
  );
  for (let from = 0; from < inputs.length; from += 100) {
    const some = inputs.slice(from, from + 100);
    some.forEach((input, i) => {
      const at = INPUTS + i * (MAX_LANE_BYTES + 7);
      queue.memory.set(input, at);
      queue.hash(at, input.length, OUTPUTS + i * 32);
    });
    queue.finish();
    for (const [i, input] of some.entries())
      assert.equal(outputOf(queue, i), toHex(blake3(input)), `${input.length} bytes`);
  }
});

test("hashes any mixture of records and commitments correctly", () => {
  const queue = openQueue();
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const job = fc.oneof(
    fc.record({ kind: fc.constant("hash" as const), input: fc.uint8Array({ maxLength: 300 }) }),
    fc.record({ kind: fc.constant("commit" as const), nonce: bytes(32), digest: bytes(32) }),
  );
  fc.assert(
    fc.property(fc.array(job, { maxLength: 40 }), (jobs) => {
      let at: number = INPUTS;
      const put = (input: Uint8Array): number => {
        queue.memory.set(input, at);
        at += input.length;
        return at - input.length;
      };
      jobs.forEach((each, i) => {
        if (each.kind === "hash") queue.hash(put(each.input), each.input.length, OUTPUTS + i * 32);
        else queue.commit(put(each.nonce), put(each.digest), OUTPUTS + i * 32);
      });
      queue.finish();
      for (const [i, each] of jobs.entries()) {
        const input = each.kind === "hash" ? each.input : Buffer.concat([TAG, each.nonce, each.digest]);
        assert.equal(outputOf(queue, i), toHex(blake3(input)));
      }
    }),
    { numRuns: 200 },
  );
});

function outputOf(queue: LaneQueue, n: number): string {
  return toHex(queue.memory.slice(OUTPUTS + n * 32, OUTPUTS + n * 32 + 32));
}
