import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Fingerprint } from "./used-request-ids.ts";
import { RunningCall } from "./running-call.ts";
import { RunningCalls } from "./running-calls.ts";

const DIGEST = new Uint8Array(32);

function call(id: number, spread: number): RunningCall {
  return new RunningCall(`r${id}`, DIGEST, "", fingerprint(id, spread));
}

/** Few different words, so that many calls want the same slot. */
function fingerprint(id: number, spread: number): Fingerprint {
  return [(id % spread) * 0x9e3779b1, id];
}

test("behaves like a Map, whatever slots the calls hash to", () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(60)), { maxLength: 400 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 40 }), (taken, spread) => {
      const calls = new RunningCalls();
      const model = new Map<string, RunningCall>();
      for (const [adds, id] of taken) {
        const made = call(id, spread);
        const known = model.get(made.requestId);
        assert.equal(calls.get(made.requestId, made.fingerprint), known);
        if (adds && known === undefined) {
          calls.add(made);
          model.set(made.requestId, made);
        } else if (known !== undefined) {
          calls.delete(known);
          model.delete(made.requestId);
        }
        assert.equal(calls.size, model.size);
        assert.deepEqual(new Set(calls.list()), new Set(model.values()));
      }
    }),
  );
});

test("does not remove another call with the same id", () => {
  const calls = new RunningCalls();
  const first = call(1, 1);
  calls.add(first);
  calls.delete(call(1, 1));
  assert.equal(calls.get(first.requestId, first.fingerprint), first);
});
