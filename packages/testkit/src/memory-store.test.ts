import assert from "node:assert/strict";
import { it } from "node:test";
import { createLedgerWrites } from "./ledger-writes.ts";
import { createMemoryStore } from "./memory-store.ts";
import { testStoreContract } from "./store-contract.ts";

testStoreContract("the store in memory", {
  persistent: false,
  createDriver: async () => ({ open: async () => createMemoryStore(), dispose: async () => undefined }),
});

it("a broken memory store rejects what waits and what comes", async () => {
  const store = createMemoryStore();
  const write = createLedgerWrites();
  store.holdAppends();
  const waiting = store.append(write());
  store.failWith("the disk is gone");
  await assert.rejects(waiting, /the disk is gone/);
  await assert.rejects(store.append(write()), /the disk is gone/);
  assert.equal(store.size, 0);
});

it("a held memory store acknowledges nothing until it is released", async () => {
  const store = createMemoryStore();
  const release = store.holdAppends();
  const appended = store.append(createLedgerWrites()());
  assert.equal((await store.head()).nextIndex, 0);
  release();
  await appended;
  assert.equal((await store.head()).nextIndex, 1);
});
