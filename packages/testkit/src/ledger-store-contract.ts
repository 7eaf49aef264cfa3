import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { equalBytes } from "@narthex/contracts";
import { isConsistent, type LedgerStore, leafHash, rootFromInclusionPath, type StoredRecord } from "@narthex/kernel";
import { createLedgerWrites } from "./ledger-writes.ts";
import { type StoreContractOptions, type StoreDriver, testStoreContract } from "./store-contract.ts";

/** One data location on which a driver opens stores. */
export interface LedgerStoreDriver extends StoreDriver {
  open(): Promise<LedgerStore>;
  /** Copies the open store with `copyTo`, and opens a store on the copy. */
  openCopy(store: LedgerStore): Promise<LedgerStore>;
}

export interface LedgerStoreContractOptions extends StoreContractOptions {
  readonly createDriver: () => Promise<LedgerStoreDriver>;
}

const SMALL = 300;
const LARGE = 700;

/** Tests that every `LedgerStore` must pass: the contract of a store, and those of its tree and its copies. */
export function testLedgerStoreContract(name: string, options: LedgerStoreContractOptions): void {
  testStoreContract(name, options);

  async function withStore(run: (store: LedgerStore, driver: LedgerStoreDriver) => Promise<void>): Promise<void> {
    const driver = await options.createDriver();
    const store = await driver.open();
    try {
      await run(store, driver);
    } finally {
      await store.close();
      await driver.dispose();
    }
  }

  describe(`${name} keeps the contract of a ledger store`, () => {
    it("rejects a tree larger than its records, and keeps the tree that it has", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        await Promise.all(Array.from({ length: SMALL }, () => store.append(write())));
        const head = await store.tree.grow(undefined, SMALL);
        await assert.rejects(store.tree.grow(head, SMALL + 1), { code: "LOG_CONTRADICTS" });
        assert.deepEqual(await store.tree.grow(head, SMALL), head);
      }));

    it("rejects growing from a root that its records do not have", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        await Promise.all(Array.from({ length: SMALL }, () => store.append(write())));
        const forged = { size: 10, root: new Uint8Array(32) };
        await assert.rejects(store.tree.grow(forged, SMALL), { code: "LOG_CONTRADICTS" });
      }));

    it("proves that a record is in the tree, and that the tree has only grown", () =>
      withStore(async (store) => {
        const write = createLedgerWrites();
        const appends = (count: number) => Promise.all(Array.from({ length: count }, () => store.append(write())));
        await appends(SMALL);
        const older = await store.tree.grow(undefined, SMALL);
        await appends(LARGE - SMALL);
        const newer = await store.tree.grow(older, LARGE);
        for (const index of [0, 255, 256, SMALL, LARGE - 1]) {
          const record = await store.readRecord(index);
          assert.ok(record);
          const path = await store.tree.proveInclusion(index, LARGE);
          const root = rootFromInclusionPath(leafHash(record.hash), index, LARGE, path);
          assert.ok(root && equalBytes(root, newer.root), `record ${index}`);
        }
        const path = await store.tree.proveConsistency(SMALL, LARGE);
        assert.ok(isConsistent({ from: SMALL, fromRoot: older.root, to: LARGE, toRoot: newer.root, path }));
      }));

    it("copies the records and state of one moment while appends go on", () =>
      withStore(async (store, driver) => {
        const write = createLedgerWrites();
        const value = new Uint8Array([1, 2, 3]);
        await store.append(write({ state: [{ table: "meta", key: "before", value }] }));
        await Promise.all(Array.from({ length: SMALL }, () => store.append(write({ requestId: "kept" }))));
        const meanwhile = Array.from({ length: SMALL }, () => store.append(write()));
        const copy = await driver.openCopy(store);
        try {
          await Promise.all(meanwhile);
          const { nextIndex } = await copy.head();
          assert.ok(nextIndex > SMALL && nextIndex <= 2 * SMALL + 1, `${nextIndex} records`);
          const hashes = (records: readonly StoredRecord[]): string[] =>
            records.map(({ hash }) => Buffer.from(hash).toString("hex"));
          assert.deepEqual(
            hashes(await copy.readRecords({ limit: nextIndex })),
            hashes(await store.readRecords({ limit: nextIndex })),
          );
          assert.deepEqual(await copy.getState("meta", "before"), value);
          assert.equal(await copy.findRequest("system", "kept"), SMALL);
        } finally {
          await copy.close();
        }
      }));
  });
}
