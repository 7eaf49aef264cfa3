import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { readOpenaiChat } from "./read-openai-chat.ts";
import { accumulate, cutAt, objects, piece } from "./testing/accumulate.ts";

const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe("concatenated objects", () => {
  test("in one delta are separate calls, the first under the given id", () => {
    const events = [piece(0, '{"a":1}{"b":"}{"} \n{"c":{"d":"\\"{"}}', { id: "x", name: "t" })];
    assert.deepEqual(accumulate(readOpenaiChat, events), [
      { id: "x", name: "t", arguments: '{"a":1}' },
      { id: "made_0", name: "t", arguments: '{"b":"}{"}' },
      { id: "made_1", name: "t", arguments: '{"c":{"d":"\\"{"}}' },
    ]);
  });

  test("are split the same in any chunks", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          objects.map((object) => JSON.stringify(object)),
          { minLength: 2, maxLength: 4 },
        ),
        cuts,
        (texts, places) => {
          const events = cutAt(texts.join(""), places).map((text, at) =>
            piece(0, text, at === 0 ? { id: "x", name: "t" } : {}),
          );
          assert.deepEqual(
            accumulate(readOpenaiChat, events).map((call) => call.arguments),
            texts,
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test("a repeated piece does not become a second call", () => {
    const twice = piece(0, '{"path":"a"}', { id: "x", name: "delete" });
    assert.deepEqual(accumulate(readOpenaiChat, [twice, twice]), [
      { id: "x", name: "delete", arguments: '{"path":"a"}' },
    ]);
  });

  test("text that is not a sequence of complete objects stays one call", () => {
    for (const text of ['{"a":1}{"b":', '{"a":1}]', '[{"a":1},{"b":2}]', '"{}{}"', '{"a":1}x{"b":2}', "{{}", ""]) {
      assert.deepEqual(accumulate(readOpenaiChat, [piece(0, text, { id: "x", name: "t" })]), [
        { id: "x", name: "t", arguments: text },
      ]);
    }
  });
});
