import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ByteQueue } from "./byte-queue.ts";

test("taking more bytes than available fails", () => {
  const queue = new ByteQueue();
  queue.push(Buffer.from("abc"));
  assert.throws(() => queue.peek(4), RangeError);
});

test("returns bytes within one chunk without copying", () => {
  const queue = new ByteQueue();
  const chunk = Buffer.from("abcdef");
  queue.push(chunk);
  queue.drop(1);
  const taken = queue.take(3);
  assert.equal(taken.buffer, chunk.buffer);
  assert.deepEqual(Buffer.from(taken), Buffer.from("bcd"));
});

test("a compacted remainder releases its chunk", () => {
  const queue = new ByteQueue();
  const chunk = Buffer.alloc(65_536, 1);
  queue.push(chunk);
  queue.drop(65_530);
  queue.compact();
  const rest = queue.take(6);
  assert.equal(rest.buffer.byteLength, 6);
});

test("returns the bytes that were added, in any chunks", () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(chunks, fc.array(fc.nat(30), { maxLength: 60 }), fc.nat(3), (parts, sizes, variant) => {
      const queue = new ByteQueue();
      for (const part of parts) queue.push(part);
      const whole = Buffer.concat(parts);
      let at = 0;
      for (const size of [...sizes, ...sizes]) {
        const count = Math.min(size, queue.length);
        const expected = whole.subarray(at, at + count);
        if (variant === 0) assert.deepEqual(Buffer.from(queue.take(count)), expected);
        else if (variant === 1) queue.drop(count);
        else {
          const target = new Uint8Array(count);
          assert.equal(queue.moveTo(target, 0), count);
          assert.deepEqual(Buffer.from(target), expected);
        }
        at += count;
        if (variant === 3) queue.compact();
        if (queue.length >= 4) assert.equal(queue.peekUint32(), whole.readUInt32BE(at));
        assert.equal(queue.length, whole.length - at);
      }
    }),
    { numRuns: 300 },
  );
});
