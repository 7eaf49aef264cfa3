import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { JobOutputBuffer } from "./job-output-buffer.ts";

test("the last part is kept within its bound, and every offset reads what was printed there", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9000 }),
      fc.array(fc.integer({ min: 0, max: 6000 }), { maxLength: 20 }),
      fc.integer({ min: 0, max: 70_000 }),
      fc.integer({ min: 0, max: 10_000 }),
      (maxBytes, lengths, offset, limit) => {
        const log = new JobOutputBuffer(maxBytes);
        let all = Buffer.alloc(0);
        for (const [index, length] of lengths.entries()) {
          const chunk = Buffer.alloc(length, index + 1);
          log.push(chunk);
          all = Buffer.concat([all, chunk]);
        }
        assert.equal(log.size, all.length);
        assert.equal(log.dropped, Math.max(0, all.length - maxBytes));
        const { offset: from, bytes } = log.read(offset, limit);
        assert.equal(from, Math.min(Math.max(offset, log.dropped), all.length));
        assert.deepEqual(Buffer.from(bytes), all.subarray(from, from + limit));
      },
    ),
  );
});

test("a million pieces of one byte cost no more than their bytes", () => {
  const log = new JobOutputBuffer(1024);
  const before = process.memoryUsage().arrayBuffers;
  for (let index = 0; index < 1_000_000; index++) log.push(Buffer.from([index & 255]));
  assert.equal(log.dropped, 1_000_000 - 1024);
  assert.equal(log.read(0, 4096).bytes.length, 1024);
  assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024);
});
