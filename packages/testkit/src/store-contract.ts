import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  blake3,
  ContentRole,
  fromBinary,
  isKernelError,
  RecordContentSchema,
  RecordSchema,
  utf8,
} from "@narthex/contracts";
import type { Store } from "@narthex/kernel";
import { createLedgerWrites } from "./ledger-writes.ts";
import { contentItem as item, testContentHoldings } from "./store-contract-content.ts";

/** One data location on which a driver opens stores. */
export interface StoreDriver {
  open(): Promise<Store>;
  /** Removes the data. All stores have been closed by then. */
  dispose(): Promise<void>;
}

export interface StoreContractOptions {
  readonly createDriver: () => Promise<StoreDriver>;
  /** Whether a store that is opened again has the data of the previous one. */
  readonly persistent: boolean;
}

/** Tests that every `Store` must pass, whatever its implementation. */
export function testStoreContract(name: string, options: StoreContractOptions): void {
  async function withStore(run: (store: Store) => Promise<void>): Promise<void> {
    const driver = await options.createDriver();
    const store = await driver.open();
    try {
      await run(store);
    } finally {
      await store.close();
      await driver.dispose();
    }
  }

  describe(`${name} keeps the contract of a store`, () => {
    it("rejects a record out of order, and everything after it", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        await store.append(write());
        write();
        await assert.rejects(store.append(write()), isUnavailable);
        await assert.rejects(store.append({ ...write(), index: 1 }), isUnavailable);
        assert.equal((await store.head()).nextIndex, 1);
        assert.equal((await store.readRecord(0))?.index, 0);
      }));

    it("rejects a record twice under one index", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        const first = write();
        await store.append(first);
        await assert.rejects(store.append(first), isUnavailable);
      }));

    it("rejects names that are no text", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        await assert.rejects(store.append({ ...write(), requestId: "\ud800" }), isUnavailable);
      }));

    it("rejects appends once it is closed", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        await store.append(write());
        await store.close();
        await assert.rejects(store.append(write()), isUnavailable);
        await store.close();
      }));

    it("finds nothing where there is nothing", () =>
      withStore(async (store) => {
        assert.deepEqual(await store.head(), { nextIndex: 0, lastWallTimeMs: 0 });
        assert.equal(await store.chainHead("system"), undefined);
        for (const index of [0, -1, 0.5, 1e15]) assert.equal(await store.readRecord(index), undefined);
        assert.deepEqual(await store.readRecords({ limit: 10 }), []);
        assert.deepEqual(await store.readRecords({ limit: 10, chain: "system", newest: true }), []);
        assert.equal(await store.findRequest("system", "r"), undefined);
        assert.deepEqual(await store.listRequestIds("system", 10), []);
        assert.deepEqual(await store.findContent(blake3(utf8("x"))), []);
        assert.deepEqual(await store.findContent(blake3(utf8("x")), "system"), []);
        assert.equal(await store.getState("sessions", "s"), undefined);
        assert.deepEqual(await store.listState("sessions", "", 10), []);
      }));

    it("gives nothing for a limit of zero", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        await store.append(write({ requestId: "r", state: [{ table: "meta", key: "k", value: utf8("v") }] }));
        assert.deepEqual(await store.readRecords({ limit: 0 }), []);
        assert.deepEqual(await store.readRecords({ limit: 0, newest: true }), []);
        assert.deepEqual(await store.readRecords({ limit: 0, chain: "system", newest: true }), []);
        assert.deepEqual(await store.listRequestIds("system", 0), []);
        assert.deepEqual(await store.listState("meta", "", 0), []);
      }));

    it("gives back a record as it was appended, with its content encoded", () =>
      withStore(async (store) => {
        const content = [item("input", ContentRole.INPUT, ["secret", "größe"]), { role: ContentRole.PROOF }];
        const write = createLedgerWrites()({ chain: "ses_a", requestId: "r1", content });
        await store.append(write);
        const { index, chain, sequence, hash, record } = write;
        const found = await store.readRecord(0);
        assert.ok(found);
        assert.deepEqual(
          { ...found, content: undefined },
          { index, chain, sequence, hash, record, content: undefined },
        );
        const items = fromBinary(RecordContentSchema, found.content).items;
        assert.deepEqual(items[0]?.digest, content[0]?.digest);
        assert.deepEqual(items[0]?.data, content[0]?.data);
        assert.deepEqual(items[0]?.labels, ["secret", "größe"]);
        assert.equal(items[1]?.role, ContentRole.PROOF);
      }));

    it("keeps what it was given, whatever the caller does to its arrays afterwards", () =>
      withStore(async (store) => {
        const value = utf8("value");
        const draft = item("data", ContentRole.INPUT);
        const write = createLedgerWrites()({ content: [draft], state: [{ table: "meta", key: "k", value }] });
        const expected = write.record.slice();
        const appended = store.append(write);
        for (const bytes of [value, write.record, write.hash, draft.data, draft.digest]) bytes?.fill(0);
        await appended;
        assert.deepEqual((await store.readRecord(0))?.record, expected);
        assert.deepEqual(await store.getState("meta", "k"), utf8("value"));
        assert.equal((await store.findContent(blake3(utf8("data")))).length, 1);
      }));

    it("knows the head of the ledger and of each chain", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        const writes = [
          write({ chain: "ses_a", logicalTimeMs: 5 }),
          write({ chain: "ses_b" }),
          write({ chain: "ses_a", logicalTimeMs: 946_684_800_000, wallTimeMs: 1_900_000_000_000 }),
        ];
        await Promise.all(writes.map((each) => store.append(each)));
        assert.deepEqual(await store.head(), { nextIndex: 3, lastWallTimeMs: 1_900_000_000_000 });
        const head = { sequence: 1, hash: writes[2]?.hash, logicalTimeMs: 946_684_800_000 };
        assert.deepEqual(await store.chainHead("ses_a"), head);
        assert.equal((await store.chainHead("ses_b"))?.sequence, 0);
        assert.equal(await store.chainHead("ses_"), undefined);
      }));

    it("lists records by place, by chain and from the end", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        const chains = ["a", "b", "a", "a", "b", "a"];
        await Promise.all(chains.map((chain) => store.append(write({ chain }))));
        const list = async (query: Parameters<Store["readRecords"]>[0]): Promise<number[]> =>
          (await store.readRecords(query)).map(({ index }) => index);
        assert.deepEqual(await list({ limit: 100 }), [0, 1, 2, 3, 4, 5]);
        assert.deepEqual(await list({ from: 2, limit: 2 }), [2, 3]);
        assert.deepEqual(await list({ from: 6, limit: 2 }), []);
        assert.deepEqual(await list({ limit: 2, newest: true }), [4, 5]);
        assert.deepEqual(await list({ from: 5, limit: 2, newest: true }), [5]);
        assert.deepEqual(await list({ chain: "a", limit: 100 }), [0, 2, 3, 5]);
        assert.deepEqual(await list({ chain: "a", from: 3, limit: 1 }), [3]);
        assert.deepEqual(await list({ chain: "a", limit: 2, newest: true }), [3, 5]);
        assert.deepEqual(await list({ chain: "a", from: 5, limit: 2, newest: true }), [5]);
        assert.deepEqual(await list({ chain: "c", limit: 2 }), []);
      }));

    it("lists more than fits one answer of its own", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        const total = 1500;
        const appends = Array.from({ length: total }, (_, number) =>
          store.append(
            write({
              chain: number % 2 === 0 ? "even" : "odd",
              requestId: `r${number}`,
              padding: number % 500 === 0 ? 700_000 : 0,
              state: [{ table: "dedupe", key: `k${String(number).padStart(5, "0")}`, value: utf8("v") }],
            }),
          ),
        );
        await Promise.all(appends);
        const all = await store.readRecords({ limit: 5000 });
        assert.deepEqual(
          all.map(({ index }) => index),
          Array.from({ length: total }, (_, index) => index),
        );
        assert.equal((await store.readRecords({ limit: 5000, chain: "odd" })).length, total / 2);
        assert.equal((await store.readRecords({ limit: 1200, newest: true }))[0]?.index, 300);
        assert.equal((await store.listRequestIds("even", 5000)).length, total / 2);
        assert.equal((await store.listState("dedupe", "k", 5000)).length, total);
        assert.equal((await store.listState("dedupe", "k", 1001)).at(-1)?.key, "k01000");
      }));

    it("finds the newest record of a request in its own chain only", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        await store.append(write({ chain: "a", requestId: "r1" }));
        await store.append(write({ chain: "b", requestId: "r1" }));
        await store.append(write({ chain: "a", requestId: "r2" }));
        await store.append(write({ chain: "a", requestId: "r1" }));
        await store.append(write({ chain: "a" }));
        assert.equal(await store.findRequest("a", "r1"), 3);
        assert.equal(await store.findRequest("b", "r1"), 1);
        assert.equal(await store.findRequest("b", "r2"), undefined);
        assert.equal(await store.findRequest("a", ""), undefined);
        assert.deepEqual(await store.listRequestIds("a", 10), ["r1", "r2"]);
        assert.deepEqual(await store.listRequestIds("a", 1), ["r1"]);
      }));

    testContentHoldings(withStore);

    it("keeps the last of several changes of one key, and forgets removed keys", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        const set = (key: string, value: string | undefined) => ({
          table: "sessions" as const,
          key,
          value: value === undefined ? undefined : utf8(value),
        });
        await Promise.all([
          store.append(write({ state: [set("a", "1"), set("b", "1"), set("c", "1")] })),
          store.append(write({ state: [set("a", "2"), set("b", undefined)] })),
          store.append(write({ state: [set("a", "3"), set("a", "4"), set("d", undefined)] })),
        ]);
        assert.deepEqual(await store.getState("sessions", "a"), utf8("4"));
        assert.equal(await store.getState("sessions", "b"), undefined);
        assert.equal(await store.getState("leases", "a"), undefined);
        await store.append(write({ state: [set("c", undefined), set("b", ""), set("", "empty key")] }));
        assert.deepEqual(await store.getState("sessions", "b"), new Uint8Array(0));
        assert.deepEqual(
          (await store.listState("sessions", "", 10)).map(({ key }) => key),
          ["", "a", "b"],
        );
      }));

    it("lists state by prefix, in the order of the bytes, taking no character for a wildcard", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        const keys = ["a", "a%", "a_b", "axb", "a\0", "a\0b", "b", "ä", "\uffff", "\u{10000}", "A"];
        const state = keys.map((key) => ({ table: "meta" as const, key, value: utf8(key) }));
        await store.append(write({ state }));
        const list = async (prefix: string, limit = 100): Promise<string[]> =>
          (await store.listState("meta", prefix, limit)).map(({ key }) => key);
        assert.deepEqual(await list(""), [
          "A",
          "a",
          "a\0",
          "a\0b",
          "a%",
          "a_b",
          "axb",
          "b",
          "ä",
          "\uffff",
          "\u{10000}",
        ]);
        assert.deepEqual(await list("a_"), ["a_b"]);
        assert.deepEqual(await list("a%"), ["a%"]);
        assert.deepEqual(await list("a\0"), ["a\0", "a\0b"]);
        assert.deepEqual(await list("a", 3), ["a", "a\0", "a\0b"]);
        assert.deepEqual(await list("\uffff"), ["\uffff"]);
      }));

    it("makes concurrent appends durable in the order of the calls", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        const done: number[] = [];
        const appends = Array.from({ length: 200 }, (_, index) =>
          store.append(write({ chain: `c${index % 7}`, padding: index })).then(() => done.push(index)),
        );
        await Promise.all(appends);
        assert.deepEqual(
          done,
          Array.from({ length: 200 }, (_, index) => index),
        );
        for (const record of await store.readRecords({ limit: 200 })) {
          assert.equal(Number(fromBinary(RecordSchema, record.record).index), record.index);
        }
      }));

    if (options.persistent) testPersistence(options.createDriver);
  });
}

function testPersistence(createDriver: StoreContractOptions["createDriver"]): void {
  it("has everything again when it is opened again, and goes on from there", async () => {
    const driver = await createDriver();
    try {
      const write = createLedgerWrites();
      const first = await driver.open();
      const content = [item("x", ContentRole.RESULT, ["l"])];
      await first.append(write({ chain: "a", requestId: "r1", content }));
      await first.append(write({ chain: "a", state: [{ table: "tokens", key: "t", value: utf8("v") }] }));
      await first.close();
      const second = await driver.open();
      assert.equal((await second.head()).nextIndex, 2);
      assert.equal((await second.chainHead("a"))?.sequence, 1);
      assert.equal(await second.findRequest("a", "r1"), 0);
      assert.deepEqual((await second.findContent(blake3(utf8("x")), "a"))[0]?.labels, ["l"]);
      assert.deepEqual(await second.getState("tokens", "t"), utf8("v"));
      await second.append(write({ chain: "a", requestId: "r1" }));
      assert.equal(await second.findRequest("a", "r1"), 2);
      await second.close();
    } finally {
      await driver.dispose();
    }
  });

  it("makes durable whatever was appended before it was closed", async () => {
    const driver = await createDriver();
    try {
      const write = createLedgerWrites();
      const first = await driver.open();
      const appends = Array.from({ length: 100 }, () => first.append(write()));
      await first.close();
      await Promise.all(appends);
      const second = await driver.open();
      assert.equal((await second.head()).nextIndex, 100);
      await second.close();
    } finally {
      await driver.dispose();
    }
  });
}

function isUnavailable(error: unknown): boolean {
  return isKernelError(error) && error.code === "STORE_UNAVAILABLE" && !/\n/.test(error.message);
}
