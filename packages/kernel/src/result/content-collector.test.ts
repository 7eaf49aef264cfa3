import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, ContentPlace, MAX_INLINE_RESULT_BYTES, MAX_ROW_CONTENT_BYTES } from "@narthex/contracts";
import { createMemoryContentStore } from "@narthex/testkit";
import * as fc from "fast-check";
import { runsOf } from "../../../../test/sampled.ts";
import type { ContentStore } from "../ports.ts";
import { ContentCollector } from "./content-collector.ts";

const free = () => undefined;

const PATTERN = Buffer.alloc(2_000_000);
for (let i = 0; i < PATTERN.length; i++) PATTERN[i] = (i * 31 + (i >>> 8)) & 0xff;

function bytesOf(size: number): Buffer {
  return Buffer.from(PATTERN.subarray(0, size));
}

async function readFile(files: ContentStore, digest: Uint8Array): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of files.read(digest, 0, Number.MAX_SAFE_INTEGER)) parts.push(part);
  return Buffer.concat(parts);
}

test("the same content in any chunks is stored at the same place", async () => {
  const near = (limit: number) => fc.integer({ min: limit - 3, max: limit + 3 });
  const anySize = fc.oneof(fc.nat(200), near(MAX_ROW_CONTENT_BYTES), near(MAX_INLINE_RESULT_BYTES), fc.nat(1_500_000));
  await fc.assert(
    fc.asyncProperty(anySize, fc.array(fc.nat(), { maxLength: 12 }), async (size, cuts) => {
      const bytes = bytesOf(size);
      const files = createMemoryContentStore();
      const collector = new ContentCollector(files, free);
      let at = 0;
      for (const cut of [...cuts.map((place) => place % (size + 1)).sort((a, b) => a - b), size]) {
        const chunk = Buffer.from(bytes.subarray(at, cut));
        await collector.write(chunk);
        chunk.fill(0);
        at = cut;
      }
      assert.equal(collector.size, size);
      const { digest, head, place, size: collected } = await collector.finish();
      assert.deepEqual(digest, blake3(bytes));
      assert.equal(collected, size);
      assert.ok(bytes.subarray(0, MAX_INLINE_RESULT_BYTES).equals(head));
      assert.equal(place, size <= MAX_ROW_CONTENT_BYTES ? ContentPlace.ROW : ContentPlace.FILE);
      if (place === ContentPlace.FILE) assert.ok(bytes.equals(await readFile(files, digest)));
    }),
    { numRuns: runsOf(40) },
  );
});

test("many very small chunks use no more memory than their bytes", async () => {
  const collector = new ContentCollector(createMemoryContentStore(), free);
  for (let i = 0; i < 60_000; i++) await collector.write(Uint8Array.of(i & 0xff));
  assert.ok(collector.head().buffer.byteLength <= 128 * 1024);
  assert.equal((await collector.finish()).size, 60_000);
});

test("charges every byte before keeping it, and keeps no refused byte", async () => {
  const charged: number[] = [];
  const collector = new ContentCollector(createMemoryContentStore(), (bytes) => {
    if (bytes === 3) throw new Error("no more");
    charged.push(bytes);
  });
  await collector.write(new Uint8Array(1));
  await collector.write(new Uint8Array(2));
  await assert.rejects(collector.write(new Uint8Array(3)), /no more/);
  assert.deepEqual(charged, [1, 2]);
  assert.equal(collector.size, 3);
});

test("abandoned content leaves no file", async () => {
  const files = createMemoryContentStore();
  const collector = new ContentCollector(files, free);
  const bytes = bytesOf(100_000);
  await collector.write(bytes);
  await collector.abort();
  assert.equal(await files.stat(blake3(bytes)), undefined);
});
