import assert from "node:assert/strict";
import { test } from "node:test";
import { createRecentCallIds } from "./recent-call-ids.ts";

const never = (): string => assert.fail("nothing waits, so no digest is needed");

test("computes no digest while nothing is noted", () => {
  const notes = createRecentCallIds();
  assert.equal(notes.find(never), undefined);
  notes.set(never, "");
  notes.set(() => "a", "id");
  notes.set(() => "a", "");
  assert.equal(notes.find(never), undefined);
});

test("forgets a note after its time", () => {
  let nowMs = 0;
  const notes = createRecentCallIds(1000, () => nowMs);
  notes.set(() => "a", "id");
  nowMs = 999;
  assert.equal(
    notes.find(() => "a"),
    "id",
  );
  nowMs = 1000;
  assert.equal(
    notes.find(() => "a"),
    undefined,
  );
});

test("keeps the most recent of very many calls", () => {
  const notes = createRecentCallIds();
  for (let i = 0; i < 300; i++) notes.set(() => `call ${i}`, `id ${i}`);
  assert.equal(
    notes.find(() => "call 0"),
    undefined,
  );
  assert.equal(
    notes.find(() => "call 299"),
    "id 299",
  );
});
