import assert from "node:assert/strict";
import { it } from "node:test";
import { blake3, ContentPlace, ContentRole, utf8 } from "@narthex/contracts";
import type { ContentDraft, Store } from "@narthex/kernel";
import { createLedgerWrites } from "./ledger-writes.ts";

/** What every `Store` must find of content, in a store that each test gets fresh. */
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

/** Content of a record's row. */
export function contentItem(text: string, role: ContentRole, labels: readonly string[] = []): ContentDraft {
  const data = utf8(text);
  const nonce = new Uint8Array(32).fill(7);
  return { role, digest: blake3(data), nonce, size: data.length, place: ContentPlace.ROW, data, labels };
}
