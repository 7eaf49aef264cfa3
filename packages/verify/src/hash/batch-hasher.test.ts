import assert from "node:assert/strict";
import { test } from "node:test";
import {
  blake3,
  commitTo,
  ContentPlace,
  ContentRole,
  fromBinary,
  hashRecord,
  RecordContentSchema,
  toHex,
} from "@narthex/contracts";
import type { LedgerRow } from "../ledger-source.ts";
import { LedgerBuilder } from "../testing/ledger-builder.ts";
import { BatchHasher } from "./batch-hasher.ts";

const SIZES = [0, 1, 63, 64, 65, 500, 991, 992, 993, 1024, 1025, 5000, 60_000];

test("rows of every size have the same hashes as when hashed alone", () => {
  const ledger = new LedgerBuilder();
  for (const size of SIZES) {
    const items = SIZES.map((other) => ledger.commit(ContentRole.PUT, new Uint8Array(other).fill(size)).item);
    const reason = "r".repeat(size);
    ledger.append({ chain: "system", entries: [{ case: "sessionClosed", value: { reason } }], items });
  }
  assert.equal(compareAll(ledger.rows), SIZES.length);
});

test("hashes a row with more items than a batch can hold by itself", () => {
  const ledger = new LedgerBuilder();
  const items = Array.from({ length: 3000 }, () => ledger.commit(ContentRole.PUT, "x").item);
  ledger.append({ chain: "system", entries: [{ case: "sessionClosed", value: {} }], items: items.slice(0, 2) });
  ledger.append({ chain: "system", entries: [{ case: "sessionClosed", value: {} }], items });
  assert.equal(compareAll(ledger.rows), 2);
});

test("an invalid row ends a batch, and starts none", () => {
  const ledger = new LedgerBuilder();
  const row = ledger.append({ chain: "system", entries: [{ case: "sessionClosed", value: {} }] });
  const hostile = { ...row, record: "text" } as unknown as LedgerRow;
  const hasher = new BatchHasher();
  assert.equal(hasher.hash([row, hostile, row], 0), 1);
  assert.equal(hasher.hash([row, hostile, row], 1), 0);
  assert.equal(hasher.hash([row, hostile, row], 2), 1);
});

/** Answers how many rows were compared. */
function compareAll(rows: readonly LedgerRow[]): number {
  const hasher = new BatchHasher();
  let from = 0;
  while (from < rows.length) {
    const count = hasher.hash(rows, from);
    assert.ok(count > 0);
    for (let n = 0; n < count; n++) compareRow(rows[from + n], hasher, n);
    from += count;
  }
  return from;
}

function compareRow(row: LedgerRow | undefined, hasher: BatchHasher, n: number): void {
  assert.ok(row !== undefined);
  const hashes = hasher.of(n);
  assert.equal(toHex(hashes.record.view()), toHex(hashRecord(row.record)));
  for (const [i, item] of fromBinary(RecordContentSchema, row.content).items.entries()) {
    assert.equal(item.place, ContentPlace.ROW);
    assert.equal(toHex(hashes.commitment(i).view()), toHex(commitTo(item.digest, item.nonce)));
    assert.equal(toHex(hashes.data(i).view()), toHex(blake3(item.data)));
  }
}
