import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallAnswer } from "../../journal/call-answer.ts";
import { type KeptAnswer, MAX_DEDUPE_KEYS } from "../../journal/dedupe-row.ts";
import { SmallMap } from "../../session/small-map.ts";
import type { CallFrame } from "../call.ts";
import { keepDedupeAnswer } from "./dedupe-rows.ts";

const FINAL = { final: true } as CallAnswer;

test("as many keys as there may be are kept, and the oldest makes room for the next, in memory and in the store", () => {
  const live = { id: "s", answersByKey: new SmallMap<string, KeptAnswer>() };
  const rows = new Map<string, Uint8Array>();
  const keep = (dedupeKey: string): void => {
    const trail = { live, dedupeKey, requestId: dedupeKey, request: { digest: new Uint8Array(32) }, callNumber: 1 };
    for (const { key, value } of keepDedupeAnswer({ trail } as unknown as CallFrame, FINAL)) {
      if (value === undefined) rows.delete(key);
      else rows.set(key, value);
    }
  };
  for (let i = 0; i < MAX_DEDUPE_KEYS; i++) keep(`key ${i}`);
  assert.ok(rows.has("s/key 0") && live.answersByKey.get("key 0") !== undefined);
  for (let i = 0; i < 3; i++) {
    keep(`later ${i}`);
    assert.equal(rows.size, MAX_DEDUPE_KEYS);
    assert.equal(live.answersByKey.size, MAX_DEDUPE_KEYS);
    assert.ok(!rows.has(`s/key ${i}`) && live.answersByKey.get(`key ${i}`) === undefined);
    assert.ok(rows.has(`s/key ${i + 1}`) && rows.has(`s/later ${i}`));
  }
});

test("denials, retryable errors and calls that began nothing keep no key", () => {
  const live = { id: "s", answersByKey: new SmallMap<string, KeptAnswer>() };
  const request = { digest: new Uint8Array(32) };
  const trail = { live, dedupeKey: "k", requestId: "r", request, callNumber: 1 };
  const kept = (frame: object, answer: Partial<CallAnswer>) =>
    keepDedupeAnswer({ trail: frame } as CallFrame, answer as CallAnswer);
  assert.deepEqual(kept(trail, { final: false }), []);
  assert.deepEqual(kept({ ...trail, callNumber: 0 }, FINAL), []);
  assert.deepEqual(kept({ ...trail, dedupeKey: "" }, FINAL), []);
  assert.equal(live.answersByKey.size, 0);
});
