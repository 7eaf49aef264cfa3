import assert from "node:assert/strict";
import { it } from "node:test";
import { compileEncoder, type RecordContent, RecordContentSchema } from "@narthex/contracts";
import type { StoreWrite } from "@narthex/kernel";
import fc from "fast-check";
import { boundWrite, GroupPacker, STATE_TABLES, visitGroup } from "./packed-group.ts";

const encodeContent = compileEncoder<RecordContent>(RecordContentSchema);
const bytes = fc.uint8Array({ maxLength: 200 });
const text = fc.string({ unit: "grapheme", maxLength: 80 });
const write: fc.Arbitrary<StoreWrite> = fc.record({
  index: fc.maxSafeNat(),
  chain: text,
  sequence: fc.maxSafeNat(),
  requestId: text,
  hash: bytes,
  record: bytes,
  content: fc.array(fc.record({ digest: bytes, data: bytes }), { maxLength: 3 }),
  state: fc.array(
    fc.record({
      table: fc.constantFrom(...STATE_TABLES),
      key: text,
      value: fc.option(bytes, { nil: undefined }),
    }),
    { maxLength: 3 },
  ),
  erasures: fc.array(fc.record({ recordIndex: fc.maxSafeNat(), item: fc.nat() }), { maxLength: 3 }),
});

it("refuses a state table that does not exist", () => {
  const forged = {
    index: 0,
    chain: "",
    sequence: 0,
    requestId: "",
    hash: new Uint8Array(0),
    record: new Uint8Array(0),
  };
  const state = [{ table: "passwords" as "meta", key: "k", value: undefined }];
  assert.throws(() => new GroupPacker().add({ ...forged, content: [], state }), /no state table/);
});

it("unpacks what was packed, in order, whatever it is and however often its memory grew", () => {
  fc.assert(
    fc.property(fc.array(write, { maxLength: 10 }), (writes) => {
      const packer = new GroupPacker(new ArrayBuffer(16));
      let bound = 0;
      for (const each of writes) {
        packer.add(each);
        bound += boundWrite(each);
      }
      assert.ok(packer.byteLength <= bound);
      assert.equal(packer.count, writes.length);
      const found: unknown[] = [];
      visitGroup(packer.memory, packer.byteLength, {
        record: (...parts) => found.push(parts),
        state: (...parts) => found.push(parts),
        erase: (...parts) => found.push(parts),
      });
      const expected = writes.flatMap((each) => [
        [
          each.index,
          each.chain,
          each.sequence,
          each.requestId,
          each.hash,
          each.record,
          encodeContent({ items: each.content }),
        ],
        ...each.state.map(({ table, key, value }) => [STATE_TABLES.indexOf(table), key, value]),
        ...(each.erasures ?? []).map(({ recordIndex, item }) => [recordIndex, item]),
      ]);
      assert.deepEqual(found, expected);
    }),
  );
});
