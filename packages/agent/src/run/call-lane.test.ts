import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { createCallLane } from "./call-lane.ts";

test("calls with effects run alone and in order, and readers within their limit", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 4 }),
      fc.scheduler(),
      async (readOnly, maxParallel, scheduler) => {
        const lane = createCallLane(maxParallel);
        const running = new Set<number>();
        const started: number[] = [];
        const results = readOnly.map((isReadOnly, at) =>
          lane.run(isReadOnly, async () => {
            running.add(at);
            started.push(at);
            assert.ok(running.size <= maxParallel);
            if ([...running].some((other) => readOnly[other] === false)) assert.equal(running.size, 1);
            await scheduler.schedule(Promise.resolve());
            running.delete(at);
            return at;
          }),
        );
        await scheduler.waitFor(Promise.all(results));
        const order = readOnly.map((_, at) => at);
        assert.deepEqual(await Promise.all(results), order);
        assert.deepEqual(started, order);
      },
    ),
  );
});

test("a failed call does not block other calls", async () => {
  const lane = createCallLane(2);
  const failing = lane.run(false, () => Promise.reject(new Error("no")));
  const next = lane.run(false, () => Promise.resolve(7));
  await assert.rejects(failing, /no/);
  assert.equal(await next, 7);
});
