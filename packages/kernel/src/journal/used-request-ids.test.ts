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

test("a session that is not known may have used any id", () => {
  const memory = createMemory();
  assert.equal(memory.mayHave("s", "r"), true);
  memory.add("s", "r");
  assert.equal(memory.mayHave("s", "other"), true);
});

test("a new session has used nothing, then what it used, and nothing of another", () => {
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

test("what an earlier process knew is loaded, every id of it", async () => {
  const ids = Array.from({ length: 5000 }, (_, i) => `request ${i}`);
  const memory = createMemory(holding(ids).store);
  await memory.load("s");
  assert.ok(ids.every((id) => memory.mayHave("s", id)));
  assert.equal(memory.mayHave("s", "request"), false);
});

test("a session with more ids than are worth loading is asked of the store, never guessed", async () => {
  const ids = Array.from({ length: 200_001 }, (_, i) => `${i}`);
  const { store, asked } = holding(ids);
  const memory = createMemory(store);
  await memory.load("s");
  assert.ok((asked[0] ?? 0) <= ids.length);
  assert.equal(memory.mayHave("s", "never used"), true);
});

test("whoever does not know the key cannot choose ids that collide", () => {
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

test("ids that share their beginning, and the longest there are, have fingerprints of their own", () => {
  const memory = createMemory();
  memory.begin("s");
  memory.add("s", `${"😀".repeat(255)}a`);
  assert.equal(memory.mayHave("s", `${"😀".repeat(255)}a`), true);
  assert.equal(memory.mayHave("s", `${"😀".repeat(255)}b`), false);
  assert.equal(memory.mayHave("s", "😀".repeat(255)), false);
});
