import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { blake3, utf8 } from "@narthex/contracts";
import { createMemoryContentStore } from "@narthex/testkit";
import { createContentUses } from "./content-uses.ts";
import { ReadWriteLock } from "./read-write-lock.ts";
import { createTrackedContentStore } from "./tracked-content-store.ts";

const DIGEST = blake3(utf8("x"));
const nobody = async (): Promise<boolean> => false;

async function write(store: ReturnType<typeof createTrackedContentStore>): Promise<void> {
  const writer = await store.openWriter();
  await writer.write(utf8("x"));
  await writer.commit();
}

describe("content in use", () => {
  it("is noted by every use that began before the note and has not ended", () => {
    const uses = createContentUses();
    const first = uses.begin();
    assert.ok(!uses.isInUse(DIGEST));
    uses.note(DIGEST);
    const second = uses.begin();
    assert.ok(uses.isInUse(DIGEST));
    uses.end(first);
    // What began after it was noted found it by itself, and notes it then.
    assert.ok(!uses.isInUse(DIGEST));
    uses.note(DIGEST);
    assert.ok(uses.isInUse(DIGEST));
    uses.end(second);
    assert.ok(!uses.isInUse(DIGEST));
  });

  it("is all content once more was noted than is remembered", () => {
    const uses = createContentUses();
    const use = uses.begin();
    for (let number = 0; number < 100_001; number++) uses.note(utf8(String(number)));
    assert.ok(uses.isInUse(utf8("7")));
    uses.end(use);
    assert.ok(!uses.isInUse(utf8("7")));
  });

  it("is not found while it is held for removal", async () => {
    const uses = createContentUses();
    assert.equal(uses.whenFree(DIGEST), undefined);
    const free = uses.hold([Buffer.from(DIGEST).toString("hex")]);
    let isFree = false;
    const waiting = uses.whenFree(DIGEST)?.then(() => (isFree = true));
    await Promise.resolve();
    assert.ok(!isFree);
    free();
    await waiting;
    assert.equal(uses.whenFree(DIGEST), undefined);
  });

  it("keeps its file until its writer has ended and no holder is left", async () => {
    const uses = createContentUses();
    const store = createTrackedContentStore(createMemoryContentStore(), uses);
    await uses.during(async () => {
      await write(store);
      assert.equal(await store.removeUnused(DIGEST, nobody), false);
    });
    assert.ok(await store.removeUnused(DIGEST, async () => true));
    assert.deepEqual(await store.stat(DIGEST), { size: 1 });
    assert.ok(await store.removeUnused(DIGEST, nobody));
    assert.equal(await store.stat(DIGEST), undefined);
  });

  it("is not written while its removal is being decided", async () => {
    const uses = createContentUses();
    const store = createTrackedContentStore(createMemoryContentStore(), uses);
    const asked = Promise.withResolvers<boolean>();
    const removing = store.removeUnused(DIGEST, () => asked.promise);
    const writing = uses.during(() => write(store));
    await Promise.resolve();
    asked.resolve(false);
    await removing;
    await writing;
    assert.deepEqual(await store.stat(DIGEST), { size: 1 });
  });
});

describe("a shared lock", () => {
  it("is exclusive for one holder, after all sharers and before all later ones", async () => {
    const lock = new ReadWriteLock();
    const order: string[] = [];
    const step = (name: string, until?: Promise<void>) => async () => {
      await until;
      order.push(name);
    };
    const first = Promise.withResolvers<void>();
    const all = [
      lock.withShared(step("shared", first.promise)),
      lock.withExclusive(step("alone")),
      lock.withShared(step("later")),
      lock.withExclusive(step("alone again")),
    ];
    await Promise.resolve();
    first.resolve();
    await Promise.all(all);
    assert.deepEqual(order.slice(0, 2), ["shared", "alone"]);
    assert.equal(order.length, 4);
  });

  it("is released after work that failed", async () => {
    const lock = new ReadWriteLock();
    const fail = async (): Promise<void> => Promise.reject(new Error("no"));
    await assert.rejects(lock.withShared(fail));
    await assert.rejects(lock.withExclusive(fail));
    assert.equal(await lock.withShared(async () => 1), 1);
    assert.equal(await lock.withExclusive(async () => 2), 2);
  });
});
