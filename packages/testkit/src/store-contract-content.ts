import assert from "node:assert/strict";
import { it } from "node:test";
import { blake3, ContentPlace, ContentRole, fromBinary, RecordContentSchema, toHex, utf8 } from "@narthex/contracts";
import type { ContentDraft, Store } from "@narthex/kernel";
import { createLedgerWrites } from "./ledger-writes.ts";

/** Tests for finding content that every `Store` must pass. Each test gets a new store. */
export function testContentHoldings(withStore: (run: (store: Store) => Promise<void>) => Promise<void>): void {
  it("finds content in the chains that hold it and in no other", () =>
    withStore(async (store) => {
      const write = createLedgerWrites();
      const digest = blake3(utf8("shared"));
      await store.append(
        write({
          chain: "a",
          content: [contentItem("else", ContentRole.INPUT), contentItem("shared", ContentRole.RESULT)],
        }),
      );
      await store.append(write({ chain: "b", content: [contentItem("shared", ContentRole.PUT)] }));
      await store.append(write({ chain: "c", content: [contentItem("else", ContentRole.PUT)] }));
      assert.deepEqual(await store.findContent(digest, "a"), [
        {
          chain: "a",
          recordIndex: 0,
          item: 1,
          role: ContentRole.RESULT,
          place: ContentPlace.ROW,
          size: 6,
          labels: [],
        },
      ]);
      assert.deepEqual(await store.findContent(digest, "c"), []);
      assert.deepEqual(await store.findContent(digest, ""), []);
      assert.deepEqual(
        (await store.findContent(digest)).map(({ chain }) => chain),
        ["a", "b"],
      );
      assert.deepEqual(await store.findContent(digest.subarray(0, 16)), []);
    }));

  it("joins the labels of everything a chain holds under one digest", () =>
    withStore(async (store) => {
      const write = createLedgerWrites();
      const digest = blake3(utf8("x"));
      await store.append(write({ chain: "a", content: [contentItem("x", ContentRole.PUT, ["untrusted"])] }));
      await store.append(write({ chain: "b", content: [contentItem("x", ContentRole.PUT, ["other"])] }));
      await store.findContent(digest, "a");
      await store.append(write({ chain: "a", content: [contentItem("x", ContentRole.PUT, ["secret", "untrusted"])] }));
      await store.append(write({ chain: "a", content: [contentItem("x", ContentRole.RESULT)] }));
      const found = await store.findContent(digest, "a");
      assert.deepEqual(
        found.map(({ recordIndex, labels }) => ({ recordIndex, labels })),
        [
          { recordIndex: 0, labels: ["secret", "untrusted"] },
          { recordIndex: 3, labels: ["secret", "untrusted"] },
        ],
      );
    }));

  it("prefers the holding that has the bytes", () =>
    withStore(async (store) => {
      const write = createLedgerWrites();
      const named = { ...contentItem("x", ContentRole.RESULT), place: ContentPlace.ELSEWHERE, data: new Uint8Array(0) };
      await store.append(write({ content: [named] }));
      await store.append(write({ content: [contentItem("x", ContentRole.RESULT)] }));
      await store.append(write({ content: [named] }));
      const [found, ...rest] = await store.findContent(blake3(utf8("x")), "system");
      assert.equal(found?.recordIndex, 1);
      assert.equal(found?.place, ContentPlace.ROW);
      assert.deepEqual(rest, []);
    }));

  it("does not take the digest of a request, or an erased item, for content", () =>
    withStore(async (store) => {
      const write = createLedgerWrites();
      const erased = { role: ContentRole.RESULT, place: ContentPlace.ERASED, size: 1 };
      await store.append(
        write({ content: [{ ...contentItem("x", ContentRole.REQUEST), place: ContentPlace.NONE }, erased] }),
      );
      assert.deepEqual(await store.findContent(blake3(utf8("x"))), []);
      assert.deepEqual(await store.findContent(new Uint8Array(0)), []);
    }));

  it("makes tombstones of erased items together with the record that says so", () =>
    withStore(async (store) => {
      const write = createLedgerWrites();
      const items = [contentItem("a", ContentRole.INPUT), contentItem("b", ContentRole.RESULT, ["untrusted"])];
      await store.append(write({ chain: "x", content: items }));
      await store.append(write({ chain: "y", content: items }));
      await store.findContent(blake3(utf8("b")));
      await store.append(write({ erasures: [{ recordIndex: 0, item: 1 }] }));
      const [kept, erased] = fromBinary(RecordContentSchema, (await store.readRecord(0))?.content ?? NOTHING).items;
      assert.deepEqual(kept?.data, utf8("a"));
      assert.deepEqual(
        [erased?.place, erased?.role, erased?.size, erased?.labels],
        [ContentPlace.ERASED, ContentRole.RESULT, 1n, ["untrusted"]],
      );
      assert.deepEqual([erased?.digest, erased?.nonce, erased?.data], [NOTHING, NOTHING, NOTHING]);
      assert.deepEqual(
        (await store.listState("erasing", "", 10)).map(({ key }) => key),
        [toHex(blake3(utf8("b")))],
      );
      const other = fromBinary(RecordContentSchema, (await store.readRecord(1))?.content ?? NOTHING).items;
      assert.deepEqual(other[1]?.data, utf8("b"));
    }));

  it("forgets erased content and finds what is left of it, and what comes again", () =>
    withStore(async (store) => {
      const write = createLedgerWrites();
      const digest = blake3(utf8("b"));
      const content = [contentItem("b", ContentRole.PUT, ["secret"])];
      await store.append(write({ chain: "x", content }));
      await store.append(write({ chain: "x", content: [contentItem("b", ContentRole.PUT)] }));
      await store.append(write({ chain: "y", content }));
      await store.findContent(digest);
      await store.append(write({ erasures: [{ recordIndex: 0, item: 0 }] }));
      await store.forgetErased([digest]);
      assert.deepEqual(
        (await store.findContent(digest)).map(({ chain, recordIndex, labels }) => [chain, recordIndex, labels]),
        [
          ["x", 1, []],
          ["y", 2, ["secret"]],
        ],
      );
      const rest = [
        { recordIndex: 1, item: 0 },
        { recordIndex: 2, item: 0 },
      ];
      await store.append(write({ erasures: rest }));
      await store.forgetErased([digest]);
      assert.deepEqual(await store.findContent(digest), []);
      await store.endErasing([digest], []);
      assert.deepEqual(await store.listState("erasing", "", 10), []);
      await store.append(write({ chain: "x", content }));
      assert.deepEqual(
        (await store.findContent(digest)).map(({ recordIndex }) => recordIndex),
        [5],
      );
    }));

  it("finds who rests on content of others, and where byte strings are mentioned", () =>
    withStore(async (store) => {
      const write = createLedgerWrites();
      const digest = blake3(utf8("b"));
      const named = { ...contentItem("b", ContentRole.GRANTED), place: ContentPlace.ELSEWHERE, data: NOTHING };
      await store.append(write({ chain: "x", content: [contentItem("b", ContentRole.PUT)] }));
      await store.append(write({ chain: "y", content: [named] }));
      await store.append(write({ chain: "z", content: [contentItem(`of ${toHex(digest)}`, ContentRole.RESULT)] }));
      assert.deepEqual(
        (await store.findReferences(digest)).map(({ chain }) => chain),
        ["y"],
      );
      const found = await store.findMentions([digest, utf8(toHex(digest))], 0);
      assert.deepEqual([found.records, found.next], [[0, 1, 2], undefined]);
      assert.deepEqual((await store.findMentions([utf8(toHex(digest))], 1)).records, [2]);
    }));

  it("lists state rows beyond a key", () =>
    withStore(async (store) => {
      const write = createLedgerWrites();
      const state = ["a/1", "a/2", "a/3", "b/1"].map((key) => ({ table: "meta" as const, key, value: utf8(key) }));
      await store.append(write({ state }));
      const keys = async (...query: [string, number, string?]): Promise<string[]> =>
        (await store.listState("meta", ...query)).map(({ key }) => key);
      assert.deepEqual(await keys("a/", 1, "a/1"), ["a/2"]);
      assert.deepEqual(await keys("a/", 10, "a/2"), ["a/3"]);
      assert.deepEqual(await keys("a/", 10, "a/3"), []);
    }));

  it("answers at most a hundred holdings", () =>
    withStore(async (store) => {
      const write = createLedgerWrites();
      const content = [contentItem("popular", ContentRole.PUT)];
      await Promise.all(
        Array.from({ length: 130 }, (_, number) => store.append(write({ chain: `c${number}`, content }))),
      );
      assert.equal((await store.findContent(blake3(utf8("popular")))).length, 100);
      assert.equal((await store.findContent(blake3(utf8("popular")), "c129"))[0]?.recordIndex, 129);
    }));
}

const NOTHING = new Uint8Array(0);

/** Content in a record's row. */
export function contentItem(text: string, role: ContentRole, labels: readonly string[] = []): ContentDraft {
  const data = utf8(text);
  const nonce = new Uint8Array(32).fill(7);
  return { role, digest: blake3(data), nonce, size: data.length, place: ContentPlace.ROW, data, labels };
}
