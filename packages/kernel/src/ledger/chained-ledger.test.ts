import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary, RecordSchema } from "@narthex/contracts";
import { createMemoryStore, createTestClock, createTestKernel, echoTool, type MemoryStore } from "@narthex/testkit";
import type { Store } from "../ports.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import type { EntryDraft, RecordDraft } from "./record-draft.ts";
import { tailRecords } from "./tail-records.ts";

const ENTRY: EntryDraft = { case: "sessionClosed", value: { reason: "closed" } };
const draft = (chain: string): RecordDraft => ({ chain, entries: [ENTRY] });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function create(store: Store = createMemoryStore()) {
  const failures: Error[] = [];
  const clock = createTestClock();
  const ledger = await createLedger({ store, clock, onFailure: (failure) => void failures.push(failure) });
  return { ledger, failures, clock };
}

async function sequencesOf(store: Store, chain: string): Promise<number[]> {
  return (await store.readRecords({ limit: 1000, chain })).map((stored) =>
    Number(fromBinary(RecordSchema, stored.record).sequence),
  );
}

test("a chain forgotten during appends, and used again, assigns no index twice", async () => {
  const store = createMemoryStore();
  const { ledger } = await create(store);
  await ledger.loadChain("c");
  const release = store.holdAppends();
  const appended = [ledger.append(draft("c"))];
  ledger.forgetChain("c");
  appended.push(ledger.append(draft("c")), ledger.append(draft("c")));
  await turn();
  release();
  await Promise.all(appended);
  await ledger.append(draft("c"));
  assert.deepEqual(await sequencesOf(store, "c"), [0, 1, 2, 3]);
});

test("late records of a chain that is not loaded keep their order, even if the store responds late", async () => {
  const memory = createMemoryStore();
  const store: MemoryStore = {
    ...memory,
    async chainHead(chain) {
      const head = await memory.chainHead(chain);
      for (let i = 0; i < 5; i++) await turn();
      return head;
    },
  };
  const { ledger } = await create(store);
  const appended: Promise<unknown>[] = [];
  for (let i = 0; i < 20; i++) {
    appended.push(ledger.append(draft(`c${i % 2}`)));
    if (i % 3 === 0) await turn();
    if (i % 5 === 0) ledger.forgetChain("c0");
    if (i % 7 === 0) appended.push(ledger.loadChain("c1"));
  }
  await Promise.all(appended);
  for (const chain of ["c0", "c1"])
    assert.deepEqual(
      await sequencesOf(memory, chain),
      Array.from({ length: 10 }, (_, i) => i),
    );
});

test("a draft that cannot be encoded, or whose rows cannot be built, takes no index", async () => {
  const store = createMemoryStore();
  const { ledger, failures } = await create(store);
  await ledger.loadChain("c");
  const unencodable: EntryDraft = { case: "toolStarted", value: { callNumber: Number.NaN } };
  await assert.rejects(ledger.append({ chain: "c", entries: [unencodable] }), RangeError);
  const state = (): never => {
    throw new Error("no rows");
  };
  await assert.rejects(ledger.append({ ...draft("c"), state }), /no rows/);
  await ledger.append(draft("c"));
  assert.deepEqual(await sequencesOf(store, "c"), [0]);
  assert.deepEqual(failures, []);
});

test("a store that throws instead of rejecting counts as failed, and is not called again", async () => {
  const memory = createMemoryStore();
  let asked = 0;
  const store: Store = {
    ...memory,
    append() {
      asked++;
      throw new RangeError("no memory");
    },
  };
  const { ledger, failures } = await create(store);
  await ledger.loadChain("c");
  await assert.rejects(ledger.append(draft("c")), { code: "STORE_UNAVAILABLE" });
  await assert.rejects(ledger.append(draft("c")), { code: "STORE_UNAVAILABLE" });
  assert.equal(asked, 1);
  assert.equal(failures.length, 1);
});

test("a closed ledger reports no failure of its former store", async () => {
  const store = createMemoryStore();
  const { ledger, failures } = await create(store);
  await ledger.loadChain("c");
  store.holdAppends();
  const onItsWay = ledger.append(draft("c"));
  ledger.close();
  await store.close();
  await assert.rejects(onItsWay, /closed/);
  await assert.rejects(ledger.append(draft("c")), /closed/);
  assert.deepEqual(failures, []);
});

async function take(tail: AsyncIterable<{ readonly index: number }>, seen: number[]): Promise<void> {
  for await (const { index } of tail) seen.push(index);
}

test("a tail delivers every record once, in order, however slow the store and the reader are", async () => {
  const memory = createMemoryStore();
  const store: MemoryStore = {
    ...memory,
    async readRecords(query) {
      // Records become durable between the question and the answer.
      await Promise.all(Array.from({ length: 3 }, () => more(ledger)));
      return memory.readRecords(query);
    },
  };
  const { ledger } = await create(store);
  await ledger.loadChain("c");
  let made = 0;
  const more = async (to: Ledger) => {
    if (made++ < 50) await to.append(draft("c"));
  };
  await more(ledger);
  const reader = new AbortController();
  const seen: number[] = [];
  const tail = take(tailRecords({ fromIndex: 0, signal: reader.signal }, ledger, store), seen);
  while (seen.length < 50) {
    await turn();
    await more(ledger);
  }
  reader.abort();
  await tail;
  assert.deepEqual(
    seen,
    Array.from({ length: 50 }, (_, i) => i),
  );
});

test("a tail of one chain skips the others, from the given index", async () => {
  const store = createMemoryStore();
  const { ledger } = await create(store);
  for (let i = 0; i < 700; i++) await ledger.append(draft(i % 2 === 0 ? "a" : "b"));
  const reader = new AbortController();
  const seen: number[] = [];
  const tail = take(tailRecords({ fromIndex: 101, chain: "a", signal: reader.signal }, ledger, store), seen);
  for (let i = 0; i < 10; i++) await turn();
  reader.abort();
  await tail;
  assert.deepEqual(
    seen,
    Array.from({ length: 299 }, (_, i) => 102 + 2 * i),
  );
});

test("a tail ends when its signal aborts and when the kernel closes", async () => {
  const { kernel, open } = await createTestKernel({ tools: [echoTool] });
  await kernel.announce();
  const readers = [new AbortController(), new AbortController()];
  const seen: number[] = [];
  const [left, stays] = readers.map(({ signal }) => take(kernel.tailRecords({ signal }), seen));
  await open();
  await turn();
  readers[0]?.abort();
  await left;
  await kernel.close();
  await stays;
  assert.equal(seen.length, 2);
});

test("a run that only reads writes nothing; one that writes records its start first", async () => {
  const store = createMemoryStore();
  const reading = await createTestKernel({ tools: [echoTool], store });
  await reading.kernel.listSessions({ all: true, limit: 10 });
  await reading.kernel.close();
  assert.equal(store.size, 0);
  const { open, records } = await createTestKernel({ tools: [echoTool] });
  await open();
  assert.deepEqual(
    (await records()).map(({ entries }) => entries[0]?.kind.case),
    ["kernelStarted", "sessionOpened"],
  );
});
