import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BUNDLE_MAGIC, BUNDLE_PART_HEAD_BYTES, BUNDLE_PARTS, BUNDLE_TAIL_BYTES } from "@narthex/contracts";
import { type BundleFile, openBundle } from "@narthex/verify";
import { runsOf } from "../../../../test/sampled.ts";
import { createExported, fileOf, readBundle } from "./testing/test-bundle.ts";

const exported = await createExported();
const whole = Buffer.from(await exported.export());
const one = Buffer.from(await exported.export(exported.sessions[0]));
const bundles = fc.constantFrom(whole, one);

/** Never a crash, and never taken for sound. */
async function assertRefused(bytes: Uint8Array, what: string): Promise<void> {
  const report = await readBundle(bytes);
  assert.ok(report === "unreadable" || !(report.intact && report.complete), what);
}

test("a bundle truncated anywhere is unreadable", async () => {
  const cut = fc.tuple(bundles, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % bytes.length));
  await fc.assert(
    fc.asyncProperty(cut, async (bytes) => assert.equal(await readBundle(bytes), "unreadable")),
    { numRuns: runsOf(200) },
  );
});

test("detects every flipped bit", async () => {
  await fc.assert(
    fc.asyncProperty(bundles, fc.nat(), fc.integer({ min: 0, max: 7 }), async (bytes, at, bit) => {
      const place = at % bytes.length;
      const flipped = Buffer.from(bytes);
      flipped[place] = (flipped[place] ?? 0) ^ (1 << bit);
      await assertRefused(flipped, `bit ${bit} of byte ${place}`);
    }),
    { numRuns: runsOf(80) },
  );
});

test("detects every flipped bit of the first and the last 90 bytes", async () => {
  for (const bytes of [whole, one]) {
    const places = [...Array(40).keys(), ...Array.from({ length: 90 }, (_, back) => bytes.length - 1 - back)];
    for (const place of places) {
      const flipped = Buffer.from(bytes);
      flipped[place] = (flipped[place] ?? 0) ^ (1 << (place % 8));
      await assertRefused(flipped, `byte ${place}`);
    }
  }
});

test("detects inserted, removed, repeated and swapped bytes", async () => {
  const span = fc.tuple(
    bundles,
    fc.nat(),
    fc.integer({ min: 1, max: 3000 }),
    fc.constantFrom("cut", "double", "random"),
  );
  await fc.assert(
    fc.asyncProperty(span, async ([bytes, at, length, how]) => {
      const from = at % bytes.length;
      const piece = bytes.subarray(from, from + length);
      const put = how === "cut" ? [] : how === "double" ? [piece, piece] : [piece, Buffer.alloc(length, at % 251)];
      await assertRefused(Buffer.concat([bytes.subarray(0, from), ...put, bytes.subarray(from + length)]), how);
    }),
    { numRuns: runsOf(80) },
  );
});

test("rejects excessive lengths and offsets before allocating memory for them", async () => {
  for (const bytes of [whole, one]) {
    const tail = bytes.length - BUNDLE_TAIL_BYTES;
    const places = [
      BUNDLE_MAGIC.length + 1,
      bytes.length - BUNDLE_TAIL_BYTES - 8,
      tail,
      tail + 8,
      tail + 16,
      tail + 24,
    ];
    for (const place of places) {
      for (const value of [0n, 1n, 2n ** 31n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]) {
        const changed = Buffer.from(bytes);
        changed.writeBigUInt64BE(value, place);
        await assertRefused(changed, `${value} at ${place}`);
      }
    }
  }
});

test("reads no more at once than its limits, whatever the file declares", async () => {
  const size = 2 ** 50;
  const asked: number[] = [];
  const endless: BundleFile = {
    size,
    read(offset, length) {
      asked.push(length);
      const bytes = Buffer.alloc(Math.min(length, 2 ** 22));
      if (offset === 0) bytes.write(BUNDLE_MAGIC, "latin1");
      bytes[offset === BUNDLE_MAGIC.length ? 0 : bytes.length] = BUNDLE_PARTS.head;
      return Promise.resolve(bytes);
    },
  };
  await assert.rejects(openBundle(endless), { name: "BundleFault" });
  assert.ok(Math.max(...asked) <= 1024 * 1024);
});

test("a file that is not a bundle is unreadable", async () => {
  const enough = BUNDLE_PART_HEAD_BYTES + BUNDLE_TAIL_BYTES;
  for (const bytes of [Buffer.alloc(0), Buffer.from(BUNDLE_MAGIC), Buffer.alloc(4096), Buffer.alloc(enough + 8, 9)]) {
    assert.equal(await readBundle(bytes), "unreadable");
  }
  await assert.rejects(openBundle(fileOf(Buffer.from("text, and much of it. ".repeat(100)))), { name: "BundleFault" });
});
