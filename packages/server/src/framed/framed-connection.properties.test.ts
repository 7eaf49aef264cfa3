import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { encode } from "@narthex/contracts";
import * as fc from "fast-check";
import { runsOf } from "../../../../test/sampled.ts";
import { toolCall, until } from "../test-socket.ts";
import { joinFrames, PREFACE } from "./frame.ts";
import { openDoor, rawClient } from "./test-framed.ts";

test("frames make the same calls with the same responses in any chunks", async (t) => {
  const { kernel, path, door } = await openDoor(t);
  const anyText = fc.oneof(fc.string({ maxLength: 30 }), fc.string({ minLength: 9000, maxLength: 20_000 }));
  const anyConnection = fc.record({
    texts: fc.array(anyText, { minLength: 1, maxLength: 12 }),
    cuts: fc.array(fc.nat(), { maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(anyConnection, async ({ texts, cuts }) => {
      kernel.calls.length = 0;
      const bodies = texts.map((text, index) => encode(toolCall(kernel, `r${index}`, "echo", { text })));
      const size = bodies.reduce((sum, body) => sum + body.length, 0);
      const bytes = Buffer.concat([PREFACE, joinFrames(bodies, size)]);
      const { socket, answers, closed } = rawClient(t, path);
      const places = cuts.map((cut) => cut % bytes.length).sort((left, right) => left - right);
      for (const [index, end] of [...places, bytes.length].entries()) {
        socket.write(bytes.subarray(places[index - 1] ?? 0, end));
        await turn();
      }
      await until(() => answers.length === texts.length);
      socket.end();
      await closed;
      assert.deepEqual(
        kernel.calls.map(({ request }) => Buffer.from(request as Uint8Array).toString("hex")),
        bodies.map((body) => Buffer.from(body).toString("hex")),
      );
      assert.deepEqual(
        answers.map(({ requestId }) => requestId).toSorted(),
        texts.map((_, index) => `r${index}`).toSorted(),
      );
      for (const { requestId, result } of answers) {
        assert.ok(result.case === "success");
        const text = texts[Number(requestId.slice(1))];
        assert.deepEqual(JSON.parse(Buffer.from(result.value.inlineResult).toString()), { text });
      }
      await until(() => door.connections === 0);
    }),
    { numRuns: runsOf(60) },
  );
});
