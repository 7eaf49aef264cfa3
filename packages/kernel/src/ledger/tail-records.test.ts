import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryStore, createTestClock, type MemoryStore } from "@narthex/testkit";
import { createLedger } from "./ledger.ts";
import type { EntryDraft, RecordDraft } from "./record-draft.ts";
import { tailRecords } from "./tail-records.ts";

const ENTRY: EntryDraft = { case: "sessionClosed", value: { reason: "closed" } };
const draft = (chain: string): RecordDraft => ({ chain, entries: [ENTRY] });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A tail of the chain `watched`, with what it saw and how often it read the store. */
async function follow(chains: readonly string[]) {
  const memory = createMemoryStore();
  let reads = 0;
  let held: Promise<void> | undefined;
  const store: MemoryStore = {
    ...memory,
    async readRecords(query) {
      reads++;
      const page = await memory.readRecords(query);
      await held;
      return page;
    },
  };
  const ledger = await createLedger({ store, clock: createTestClock(), onFailure: () => undefined });
  for (const chain of chains) await ledger.loadChain(chain);
  const reader = new AbortController();
  const seen: number[] = [];
  const tail = (async () => {
    for await (const { index } of tailRecords({ chain: "watched", signal: reader.signal }, ledger, store)) {
      seen.push(index);
    }
  })();
  await turn();
  return {
    ledger,
    seen,
    reads: () => reads,
    /** Pages that are read from now on are given only once what it gives is called. */
    slow() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async end() {
      await turn();
      reader.abort();
      await tail;
    },
  };
}

test("a tail of one chain does not read the store for other chains' records", async () => {
  const { ledger, seen, reads, end } = await follow(["watched", "other"]);
  for (let i = 0; i < 20; i++) await ledger.append(draft("other"));
  await turn();
  assert.equal(reads(), 0);
  await ledger.append(draft("watched"));
  await end();
  assert.deepEqual(seen, [20]);
  assert.equal(reads(), 1);
});

test("a tail misses no record of a chain that is unloaded and loaded again during the read", async () => {
  const { ledger, seen, slow, end } = await follow(["watched", "other"]);
  const goOn = slow();
  await ledger.append(draft("watched"));
  await turn();
  // Behind the page that is being read, and of a chain that is read back before the tail looks again.
  await ledger.append(draft("watched"));
  ledger.forgetChain("watched");
  await ledger.loadChain("watched");
  goOn();
  await end();
  assert.deepEqual(seen, [0, 1]);
});

test("a tail of a chain that was never loaded delivers its new records", async () => {
  const { ledger, seen, end } = await follow(["other"]);
  await ledger.append(draft("other"));
  await ledger.append(draft("watched"));
  await ledger.append(draft("other"));
  await end();
  assert.deepEqual(seen, [1]);
});
