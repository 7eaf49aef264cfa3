import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryStore, createTestRandom, type MemoryStore } from "@narthex/testkit";
import { createUsedRequestIds } from "./used-request-ids.ts";

function holding(requestIds: readonly string[]): { readonly store: MemoryStore; readonly asked: number[] } {
  const asked: number[] = [];
  const store: MemoryStore = {
    ...createMemoryStore(),
    async listRequestIds(_, limit) {
      asked.push(limit);
      return requestIds.slice(0, limit);
    },
  };
  return { store, asked };
}

/** By the ids themselves. */
function createMemory(store: MemoryStore = createMemoryStore(), seed = "memory") {
  const memory = createUsedRequestIds(store, createTestRandom(seed));
  return {
    ...memory,
    mayHave: (sessionId: string, requestId: string) => memory.mayHave(sessionId, memory.fingerprint(requestId)),
    add: (sessionId: string, requestId: string) => memory.add(sessionId, memory.fingerprint(requestId)),
  };
}

test("an unknown session may have used any id", () => {
  const memory = createMemory();
  assert.equal(memory.mayHave("s", "r"), true);
  memory.add("s", "r");
  assert.equal(memory.mayHave("s", "other"), true);
});

test("a new session has used only its own ids", () => {
  const memory = createMemory();
  memory.begin("s");
  memory.begin("t");
  assert.equal(memory.mayHave("s", "r"), false);
  memory.add("s", "r");
  memory.add("s", "r");
  assert.equal(memory.mayHave("s", "r"), true);
  assert.equal(memory.mayHave("t", "r"), false);
  memory.forget("s");
  assert.equal(memory.mayHave("s", "other"), true);
  memory.forget("s");
  assert.equal(memory.mayHave("t", "r"), false);
});

test("loads every id that an earlier process used", async () => {
  const ids = Array.from({ length: 5000 }, (_, i) => `request ${i}`);
  const memory = createMemory(holding(ids).store);
  await memory.load("s");
  assert.ok(ids.every((id) => memory.mayHave("s", id)));
  assert.equal(memory.mayHave("s", "request"), false);
});

test("asks the store, without guessing, for a session with too many ids to load", async () => {
  const ids = Array.from({ length: 200_001 }, (_, i) => `${i}`);
  const { store, asked } = holding(ids);
  const memory = createMemory(store);
  await memory.load("s");
  assert.ok((asked[0] ?? 0) <= ids.length);
  assert.equal(memory.mayHave("s", "never used"), true);
});

test("an attacker without the key cannot choose colliding ids", () => {
  for (const memory of [createMemory(undefined, "a"), createMemory(undefined, "b")]) {
    memory.begin("s");
    memory.add("s", "r");
    assert.equal(memory.mayHave("s", "r"), true);
    assert.equal(
      Array.from({ length: 1000 }, (_, i) => `x${i}`).some((id) => memory.mayHave("s", id)),
      false,
    );
  }
});

test("ids with a common prefix, and the longest ids, have distinct fingerprints", () => {
  const memory = createMemory();
  memory.begin("s");
  memory.add("s", `${"😀".repeat(255)}a`);
  assert.equal(memory.mayHave("s", `${"😀".repeat(255)}a`), true);
  assert.equal(memory.mayHave("s", `${"😀".repeat(255)}b`), false);
  assert.equal(memory.mayHave("s", "😀".repeat(255)), false);
});
