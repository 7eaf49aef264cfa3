import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallResponse } from "../../journal/call-response.ts";
import { type DedupeEntry, MAX_DEDUPE_KEYS } from "../../journal/dedupe-row.ts";
import { LazyMap } from "../../session/lazy-map.ts";
import type { IncomingCall } from "../call.ts";
import { createDedupeEntryRows } from "./dedupe-entry-rows.ts";

const FINAL = { isFinal: true } as CallResponse;

test("keeps dedupe keys up to the limit, then drops the oldest, in memory and in the store", () => {
  const live = { id: "s", dedupeEntries: new LazyMap<string, DedupeEntry>() };
  const rows = new Map<string, Uint8Array>();
  const keep = (dedupeKey: string): void => {
    const trail = { live, dedupeKey, requestId: dedupeKey, request: { digest: new Uint8Array(32) }, callNumber: 1 };
    for (const { key, value } of createDedupeEntryRows({ trail } as unknown as IncomingCall, FINAL)) {
      if (value === undefined) rows.delete(key);
      else rows.set(key, value);
    }
  };
  for (let i = 0; i < MAX_DEDUPE_KEYS; i++) keep(`key ${i}`);
  assert.ok(rows.has("s/key 0") && live.dedupeEntries.get("key 0") !== undefined);
  for (let i = 0; i < 3; i++) {
    keep(`later ${i}`);
    assert.equal(rows.size, MAX_DEDUPE_KEYS);
    assert.equal(live.dedupeEntries.size, MAX_DEDUPE_KEYS);
    assert.ok(!rows.has(`s/key ${i}`) && live.dedupeEntries.get(`key ${i}`) === undefined);
    assert.ok(rows.has(`s/key ${i + 1}`) && rows.has(`s/later ${i}`));
  }
});

test("denials, retryable errors and calls that started nothing keep no key", () => {
  const live = { id: "s", dedupeEntries: new LazyMap<string, DedupeEntry>() };
  const request = { digest: new Uint8Array(32) };
  const trail = { live, dedupeKey: "k", requestId: "r", request, callNumber: 1 };
  const kept = (frame: object, answer: Partial<CallResponse>) =>
    createDedupeEntryRows({ trail: frame } as IncomingCall, answer as CallResponse);
  assert.deepEqual(kept(trail, { isFinal: false }), []);
  assert.deepEqual(kept({ ...trail, callNumber: 0 }, FINAL), []);
  assert.deepEqual(kept({ ...trail, dedupeKey: "" }, FINAL), []);
  assert.equal(live.dedupeEntries.size, 0);
});
