import assert from "node:assert/strict";
import { test } from "node:test";
import { getByteBudget, createByteBudget } from "./byte-budget.ts";
import { createTestKernel } from "./test-kernel.ts";

test("serves waiting requests in order", () => {
  const budget = createByteBudget(100);
  assert.ok(budget.tryAcquire(80));
  const order: string[] = [];
  budget.acquire(50, () => order.push("large"));
  assert.equal(budget.tryAcquire(10), false);
  budget.acquire(10, () => order.push("small"));
  assert.deepEqual(order, []);
  budget.release(80);
  assert.deepEqual(order, ["large", "small"]);
  assert.equal(budget.used, 60);
});

test("a cancelled request lets later ones pass and takes nothing", () => {
  const budget = createByteBudget(100);
  budget.tryAcquire(80);
  const stop = budget.acquire(50, () => assert.fail("taken after leaving"));
  let taken = false;
  budget.acquire(10, () => {
    taken = true;
  });
  stop();
  assert.ok(taken);
  assert.equal(budget.used, 90);
});

test("a request above the limit passes when nothing else is held", () => {
  const budget = createByteBudget(100);
  assert.ok(budget.tryAcquire(1000));
  assert.equal(budget.tryAcquire(1), false);
});

test("the doors of one kernel share one budget", () => {
  const kernel = createTestKernel();
  assert.equal(getByteBudget(kernel), getByteBudget(kernel));
  assert.notEqual(getByteBudget(kernel), getByteBudget(createTestKernel()));
});
