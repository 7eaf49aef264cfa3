import assert from "node:assert/strict";
import { test } from "node:test";
import { createHandoff } from "./handoff.ts";

test("a producer waits until its value is consumed", async () => {
  const handoff = createHandoff<number>();
  let taken = 0;
  const given = handoff.give(1).then(() => taken++);
  const values = handoff.values();
  assert.deepEqual(await values.next(), { value: 1, done: false });
  assert.equal(taken, 0);
  const next = values.next();
  await given;
  handoff.end();
  assert.equal((await next).done, true);
});

test("a producer does not wait for a consumer that has left", async () => {
  const handoff = createHandoff<number>();
  const values = handoff.values();
  const first = handoff.give(1);
  const second = handoff.give(2);
  await values.next();
  await values.return();
  await Promise.all([first, second, handoff.give(3)]);
});

test("delivers values given before the end", async () => {
  const handoff = createHandoff<number>();
  void handoff.give(1);
  void handoff.give(2);
  handoff.end();
  const values: number[] = [];
  for await (const value of handoff.values()) values.push(value);
  assert.deepEqual(values, [1, 2]);
});
