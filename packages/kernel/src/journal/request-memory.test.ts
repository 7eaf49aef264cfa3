import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryStore, createTestRandom, type MemoryStore } from "@narthex/testkit";
import { createRequestMemory } from "./request-memory.ts";

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

const random = () => createTestRandom("memory");

test("a session that is not known may have used any id", () => {
  const memory = createRequestMemory(createMemoryStore(), random());
  assert.equal(memory.mayHave("s", "r"), true);
  memory.add("s", "r");
  assert.equal(memory.mayHave("s", "other"), true);
});

test("a new session has used nothing, then what it used, and nothing of another", () => {
  const memory = createRequestMemory(createMemoryStore(), random());
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
  const memory = createRequestMemory(holding(ids).store, random());
  await memory.load("s");
  assert.ok(ids.every((id) => memory.mayHave("s", id)));
  assert.equal(memory.mayHave("s", "request"), false);
});

test("a session with more ids than are worth loading is asked of the store, never guessed", async () => {
  const ids = Array.from({ length: 200_001 }, (_, i) => `${i}`);
  const { store, asked } = holding(ids);
  const memory = createRequestMemory(store, random());
  await memory.load("s");
  assert.ok((asked[0] ?? 0) <= ids.length);
  assert.equal(memory.mayHave("s", "never used"), true);
});

test("whoever does not know the key cannot choose ids that collide", () => {
  const [one, two] = [createRequestMemory(createMemoryStore(), createTestRandom("a")), createRequestMemory(createMemoryStore(), createTestRandom("b"))];
  for (const memory of [one, two]) {
    memory.begin("s");
    memory.add("s", "r");
    assert.equal(memory.mayHave("s", "r"), true);
    assert.equal(Array.from({ length: 1000 }, (_, i) => `x${i}`).some((id) => memory.mayHave("s", id)), false);
  }
});
