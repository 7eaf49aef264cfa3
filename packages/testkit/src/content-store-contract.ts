import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { blake3, isKernelError, utf8 } from "@narthex/contracts";
import type { ContentStore } from "@narthex/kernel";

/** Tests that every `ContentStore` must pass. Each test opens its own store. */
export function contentStoreContract(name: string, open: () => Promise<ContentStore>): void {
  describe(`${name} keeps the contract of a content store`, () => {
    it("has nothing that was not put", async () => {
      const store = await open();
      const digest = blake3(utf8("absent"));
      assert.equal(await store.stat(digest), undefined);
      assert.equal((await readIfAny(store, digest)).length, 0);
      await store.remove(digest);
    });

    it("finds nothing under what is no digest", async () => {
      const store = await open();
      const whole = await put(store, utf8("content"));
      for (const digest of [new Uint8Array(0), whole.subarray(0, 31), new Uint8Array([...whole, 0]), utf8("../../x")]) {
        assert.equal(await store.stat(digest), undefined);
        assert.equal((await readIfAny(store, digest)).length, 0);
        await store.remove(digest);
      }
      assert.deepEqual(await readAll(store, whole), utf8("content"));
    });

    it("shows nothing of what is being written or was given up", async () => {
      const store = await open();
      const bytes = patterned(200_000);
      const writer = await store.openWriter();
      await writer.write(bytes);
      assert.equal(await store.stat(blake3(bytes)), undefined);
      await writer.abort();
      await writer.abort();
      assert.equal(await store.stat(blake3(bytes)), undefined);
    });

    it("keeps what was committed when its writer is aborted afterwards", async () => {
      const store = await open();
      const writer = await store.openWriter();
      await writer.write(utf8("kept"));
      const { digest } = await writer.commit();
      await writer.abort();
      assert.deepEqual(await readAll(store, digest), utf8("kept"));
    });

    it("keeps content of no bytes", async () => {
      const store = await open();
      const digest = await put(store, new Uint8Array(0));
      assert.deepEqual(digest, blake3(new Uint8Array(0)));
      assert.deepEqual(await store.stat(digest), { size: 0 });
      assert.equal((await readAll(store, digest)).length, 0);
    });

    it("names content by the hash of all its chunks, whatever their sizes", async () => {
      const store = await open();
      const bytes = patterned(700_001);
      for (const chunkSize of [1024, 65_536, 262_144, 262_145, bytes.length]) {
        const writer = await store.openWriter();
        for (let at = 0; at < bytes.length; at += chunkSize) await writer.write(bytes.subarray(at, at + chunkSize));
        await writer.write(new Uint8Array(0));
        assert.deepEqual(await writer.commit(), { digest: blake3(bytes), size: bytes.length });
      }
      assert.deepEqual(await readAll(store, blake3(bytes)), bytes);
    });

    it("keeps the order of writes that were not awaited", async () => {
      const store = await open();
      const bytes = patterned(600_000);
      const writer = await store.openWriter();
      const writes = [];
      for (let at = 0; at < bytes.length; at += 50_000) writes.push(writer.write(bytes.subarray(at, at + 50_000)));
      await Promise.all(writes);
      assert.deepEqual((await writer.commit()).digest, blake3(bytes));
    });

    it("keeps what it was given, whatever the caller does to its arrays afterwards", async () => {
      const store = await open();
      const chunk = utf8("first ");
      const writer = await store.openWriter();
      await writer.write(chunk);
      chunk.set(utf8("second"));
      await writer.write(chunk);
      const { digest } = await writer.commit();
      assert.deepEqual(await readAll(store, digest), utf8("first second"));
    });

    it("gives back the same bytes after a caller changed its copy of them", async () => {
      const store = await open();
      const bytes = patterned(100_000);
      const digest = await put(store, bytes);
      const named = digest.slice();
      const reading = readAll(store, named);
      named.fill(0);
      (await reading).fill(0);
      assert.deepEqual(await readAll(store, digest), bytes);
    });

    it("reads any slice, and no further than the end", async () => {
      const store = await open();
      const bytes = patterned(600_000);
      const digest = await put(store, bytes);
      const far = Number.MAX_SAFE_INTEGER;
      const slices = [
        [0, 0],
        [0, 1],
        [5, 0],
        [262_143, 2],
        [1, 599_999],
        [599_999, 1],
        [599_999, far],
        [600_000, 1],
        [far, far],
      ];
      for (const [offset = 0, limit = 0] of slices) {
        const slice = Buffer.concat(await Array.fromAsync(store.read(digest, offset, limit)));
        assert.ok(slice.equals(bytes.subarray(offset, offset + limit)), `${offset} ${limit}`);
      }
    });

    it("lets a reader stop early", async () => {
      const store = await open();
      const bytes = patterned(600_000);
      const digest = await put(store, bytes);
      for await (const chunk of store.read(digest, 0, bytes.length)) {
        assert.equal(chunk[0], bytes[0]);
        break;
      }
      assert.deepEqual(await readAll(store, digest), bytes);
    });

    it("lets many write the same content at once", async () => {
      const store = await open();
      const bytes = patterned(150_000);
      const writers = await Promise.all(Array.from({ length: 8 }, () => store.openWriter()));
      await Promise.all(writers.map((writer) => writer.write(bytes)));
      const committed = await Promise.all(writers.map((writer) => writer.commit()));
      for (const { digest, size } of committed)
        assert.deepEqual({ digest, size }, { digest: blake3(bytes), size: 150_000 });
      assert.deepEqual(await readAll(store, blake3(bytes)), bytes);
    });

    it("keeps writers apart that write different content at once", async () => {
      const store = await open();
      const contents = Array.from({ length: 8 }, (_, index) => patterned(100_000 + index));
      const digests = await Promise.all(contents.map((bytes) => put(store, bytes)));
      for (const [index, digest] of digests.entries()) assert.deepEqual(await readAll(store, digest), contents[index]);
    });

    it("forgets what is removed, and takes it again", async () => {
      const store = await open();
      const digest = await put(store, utf8("gone"));
      const other = await put(store, utf8("stays"));
      await store.remove(digest);
      await store.remove(digest);
      assert.equal(await store.stat(digest), undefined);
      assert.deepEqual(await readAll(store, other), utf8("stays"));
      assert.deepEqual(await put(store, utf8("gone")), digest);
      assert.deepEqual(await readAll(store, digest), utf8("gone"));
    });
  });
}

async function put(store: ContentStore, bytes: Uint8Array): Promise<Uint8Array> {
  const writer = await store.openWriter();
  await writer.write(bytes);
  const { digest, size } = await writer.commit();
  assert.equal(size, bytes.length);
  assert.deepEqual(digest, blake3(bytes));
  assert.deepEqual(await store.stat(digest), { size });
  return digest;
}

async function readAll(store: ContentStore, digest: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(Buffer.concat(await Array.fromAsync(store.read(digest, 0, Number.MAX_SAFE_INTEGER))));
}

/** Reads absent content as no bytes, whether the store returns none or throws CONTENT_NOT_FOUND. */
async function readIfAny(store: ContentStore, digest: Uint8Array): Promise<Uint8Array> {
  try {
    return await readAll(store, digest);
  } catch (fault) {
    assert.ok(isKernelError(fault) && fault.code === "CONTENT_NOT_FOUND");
    return new Uint8Array(0);
  }
}

/** Bytes without repeating patterns. */
function patterned(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let index = 0; index < length; index++) bytes[index] = (index * 31 + (index >> 8) * 7 + length) & 0xff;
  return bytes;
}
