import assert from "node:assert/strict";
import { test } from "node:test";
import { ThreadGauge } from "./thread-gauge.ts";

test("a gauge shows what a job has used, to its thread and to others, and nothing of the one before", () => {
  const gauge = new ThreadGauge();
  gauge.reset();
  gauge.identify();
  assert.deepEqual(gauge.seen(), { fuel: 0, memoryPages: 0, cpuMs: 0 });
  gauge.begin();
  gauge.note({ fuel: 7, memoryPages: 2 });
  while (gauge.ownCpuMs() < 30);
  const seen = gauge.seen();
  assert.deepEqual([seen?.fuel, seen?.memoryPages], [7, 2]);
  // The system tells of a thread that runs up to its last tick.
  assert.ok((seen?.cpuMs ?? 0) >= 15, String(seen?.cpuMs));
  gauge.reset();
  assert.deepEqual(gauge.seen(), { fuel: 0, memoryPages: 0, cpuMs: 0 });
});

test("a gauge of a thread that is gone shows nothing, and throws nothing", () => {
  const gauge = new ThreadGauge();
  gauge.begin();
  // No thread has the number 0.
  assert.equal(gauge.seen(), undefined);
});
