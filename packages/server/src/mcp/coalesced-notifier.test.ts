import assert from "node:assert/strict";
import { test } from "node:test";
import { createCoalescedNotifier } from "./coalesced-notifier.ts";

test("coalesces changes during a check into one more check, and survives a failure", async () => {
  const looks: (() => void)[] = [];
  const changed = createCoalescedNotifier(async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    looks.push(resolve);
    await promise;
    if (looks.length === 1) throw new Error("no list now");
  });
  for (let i = 0; i < 100; i++) changed();
  assert.equal(looks.length, 1);
  looks[0]?.();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(looks.length, 2);
  looks[1]?.();
  await new Promise((resolve) => setImmediate(resolve));
  changed();
  assert.equal(looks.length, 3);
});
