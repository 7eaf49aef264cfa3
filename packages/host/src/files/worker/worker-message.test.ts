import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encodeMessage, type WorkerMessage, MessageReader, REPLY_BOUNDS } from "./worker-message.ts";

describe("frames", () => {
  const bytes = Buffer.concat(
    [
      encodeMessage(1, { type: "chunk" }),
      encodeMessage(0xffff_ffff, { text: "é\n" }, Buffer.from("payload")),
      encodeMessage(2, {}, Buffer.alloc(100_000, 7)),
    ].flat(),
  );

  it("arrive whole, however they are cut", () => {
    for (const size of [1, 2, 11, 12, 13, 1000, bytes.length]) {
      const reader = new MessageReader(REPLY_BOUNDS);
      const frames: WorkerMessage[] = [];
      for (let start = 0; start < bytes.length; start += size)
        frames.push(...reader.push(bytes.subarray(start, start + size)));
      assert.deepEqual(
        frames.map(({ id, header, payload }) => [id, header, payload.length]),
        [
          [1, { type: "chunk" }, 0],
          [0xffff_ffff, { text: "é\n" }, 7],
          [2, {}, 100_000],
        ],
      );
    }
  });

  for (const [what, hex] of [
    ["a length below that of its own head", "000000070000000100000000"],
    ["a header longer than the frame", "000000080000000100000001"],
    ["a header longer than any", "7fffffff0000000100100000"],
    ["a payload longer than any", "7fffffff0000000100000002"],
    ["a header that is not JSON", `0000000a0000000100000002${Buffer.from("{]").toString("hex")}`],
  ] as const) {
    it(`are refused with ${what}`, () => {
      assert.throws(() => [...new MessageReader(REPLY_BOUNDS).push(Buffer.from(hex, "hex"))]);
    });
  }
});
