import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { toJobOutputResult } from "./job-result.ts";

test("a text read piece by piece while a job runs is the text, wherever a piece ends", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 40 }), fc.array(fc.nat(9), { maxLength: 30 }), (text, steps) => {
      fc.pre(text.isWellFormed());
      const all = Buffer.from(text);
      let [offset, size, read] = [0, 0, ""];
      for (const step of [...steps, all.length]) {
        size = Math.min(all.length, size + step);
        const state = size === all.length ? "exited" : "running";
        const reading = { state, exitCode: undefined, notes: [], dropped: 0, offset, size } as const;
        const answer = toJobOutputResult("job", { ...reading, bytes: all.subarray(offset, size) });
        assert.equal(answer.offset, offset);
        read += answer.text;
        offset = answer.next_offset;
      }
      assert.equal(read, text);
    }),
  );
});

test("bytes that are no text are shown as such, and none is held back for ever", () => {
  const state = { state: "exited", exitCode: 0, notes: [], dropped: 0, offset: 0, size: 4 } as const;
  const answer = toJobOutputResult("job", { ...state, bytes: Buffer.from([0x61, 0xff, 0xf0, 0x9f]) });
  assert.deepEqual([answer.text, answer.next_offset], ["a\ufffd\ufffd", 4]);
});
