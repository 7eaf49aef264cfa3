import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { chmod, cp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, beforeEach, describe, it } from "node:test";
import { isConsistent, type Kernel, parseCheckpointText, parseNote, parseVerifierKey } from "@narthex/kernel";
import { addRecords, createSignedHome, type SignedHome } from "./testing/signed-home.ts";

describe("a signed ledger on a disk", () => {
  let original: SignedHome;
  let home: SignedHome;
  let sizes: number[];

  before(async () => {
    original = await createSignedHome({ isBrief: false });
    sizes = [];
    // Over the width of a tile, so that there is more than one level; and in several runs.
    for (const count of [3, 200, 120, 270]) {
      await original.run(async (kernel) => {
        await addRecords(kernel, count);
        sizes.push((await kernel.signCheckpoint()).size);
      });
    }
  });
  after(() => original.remove());

  beforeEach(async (test) => {
    home = await createSignedHome();
    await cp(original.directory, home.directory, { recursive: true });
    if ("after" in test) test.after(() => home.remove());
  });

  const newest = (): number => sizes.at(-1) ?? 0;
  const sign = (kernel: Kernel) => kernel.signCheckpoint();
  const signMore = async (kernel: Kernel) => {
    await addRecords(kernel, 1);
    return kernel.signCheckpoint();
  };

  it("proves every record by every checkpoint that covers it", () =>
    home.run(async (kernel) => {
      for (const treeSize of sizes) {
        const { root } = await kernel.getCheckpoint(treeSize);
        assert.equal(root.length, 32);
        for (let index = 0; index < treeSize; index += 31) {
          // The kernel checks its proofs before it hands them out: an independent check is in the property tests.
          assert.equal((await kernel.proveRecord({ index, treeSize })).treeSize, treeSize);
        }
      }
    }));

  it("proves that every checkpoint extends every earlier one", () =>
    home.run(async (kernel) => {
      for (const from of sizes) {
        for (const to of sizes.filter((size) => size >= from)) {
          const { path, older, newer } = await kernel.proveConsistency({ from, to });
          const [a, b] = [older, newer].map((note) => parseCheckpointText(parseNote(note)?.text ?? ""));
          assert.ok(a !== undefined && b !== undefined);
          const roots = { fromRoot: a.root, toRoot: b.root };
          assert.equal(isConsistent({ from, to, path, ...roots }), true);
        }
      }
    }));

  it("holds tiles, notes and keys for their owner only, and no draft", async () => {
    const entries = await readdir(home.directory, { recursive: true, withFileTypes: true });
    for (const entry of entries.filter(({ parentPath }) => !parentPath.startsWith(home.store))) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      assert.equal(mode & 0o077, 0, entry.name);
    }
    assert.deepEqual(await readdir(join(home.merkle, "tmp")), []);
    assert.deepEqual(await readdir(home.keys), ["log-signing-key.pem"]);
    // Partial tiles are gone where the whole tile is there.
    assert.deepEqual((await readdir(join(home.merkle, "tile", "0"))).sort(), ["000", "001", "002.p"]);
  });

  it("signs with the key that it tells everybody", async () => {
    const key = parseVerifierKey((await readFile(join(home.merkle, "verifier-key"), "utf8")).trimEnd());
    const note = parseNote(await readFile(join(home.merkle, "checkpoint"), "utf8"));
    const [signature] = note?.signatures ?? [];
    assert.ok(key !== undefined && note !== undefined && signature !== undefined);
    const publicKey = createPublicKey({
      key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key.publicKey]),
      format: "der",
      type: "spki",
    });
    assert.equal(verify(null, Buffer.from(note.text), publicKey, signature.signature), true);
    assert.equal(verify(null, Buffer.from(note.text.replace("\n", "x\n")), publicKey, signature.signature), false);
  });

  it("writes tiles that are missing again, the same as they were", async () => {
    const before = await tilesOf(home);
    await rm(join(home.merkle, "tile"), { recursive: true });
    await home.run(async (kernel) => {
      await kernel.proveRecord({ index: 3 });
      await kernel.proveRecord({ index: 3, treeSize: sizes[1] });
    });
    const after = await tilesOf(home);
    assert.ok(after.has("/tile/0/000") && after.has("/tile/0/001") && after.size >= 4);
    for (const [path, bytes] of after) assert.deepEqual(bytes, before.get(path) ?? bytes, path);
    await rm(join(home.merkle, "tile"), { recursive: true });
    await home.run(signMore);
    await home.run((kernel) => kernel.proveConsistency({ from: sizes[0] ?? 0 }));
  });

  it("goes on after a stop between tiles and checkpoint, and between record and tiles", async () => {
    // Records that no tile knows of; tiles that no checkpoint knows of.
    await home.run((kernel) => addRecords(kernel, 5));
    const later = await createSignedHome();
    await cp(home.directory, later.directory, { recursive: true });
    const { size } = await later.run(sign);
    await cp(join(later.merkle, "tile"), join(home.merkle, "tile"), { recursive: true });
    await writeFile(join(home.merkle, "tmp", "0_002.p_99"), "torn");
    await later.remove();
    const signed = await home.run(signMore);
    assert.ok(signed.isNew && signed.size > size && size > newest());
    assert.deepEqual(await readdir(join(home.merkle, "tmp")), []);
  });

  for (const [what, damage] of [
    ["changed", (bytes: Buffer) => Buffer.concat([Buffer.from([(bytes[0] ?? 0) ^ 1]), bytes.subarray(1)])],
    ["cut", (bytes: Buffer) => bytes.subarray(0, 32)],
    ["empty", () => Buffer.of()],
  ] as const) {
    it(`signs nothing over a tile that was ${what}, and leaves it as it is`, async () => {
      const directory = join(home.merkle, "tile", "0", "002.p");
      const path = join(directory, String(newest() % 256));
      await writeFile(path, damage(await readFile(path)));
      const damaged = await readFile(path);
      await home.run(async (kernel) => {
        await assert.rejects(signMore(kernel), { code: "LOG_CONTRADICTS" });
        // Calls go on.
        await addRecords(kernel, 1);
      });
      assert.deepEqual(await readFile(path), damaged);
    });
  }

  it("signs nothing over records other than those it signed for", async () => {
    await rm(join(home.merkle, "tile"), { recursive: true });
    change(home, "UPDATE records SET hash = zeroblob(32) WHERE idx = 5");
    await home.run(async (kernel) => {
      await assert.rejects(signMore(kernel), { code: "LOG_CONTRADICTS", message: /another root/ });
    });
  });

  it("hands out no proof of a record that was changed", async () => {
    change(home, "UPDATE records SET record = (SELECT record FROM records WHERE idx = 6) WHERE idx = 5");
    await home.run(async (kernel) => {
      await assert.rejects(kernel.proveRecord({ index: 5 }), { code: "LOG_CONTRADICTS", message: /record 5/ });
      await kernel.proveRecord({ index: 6 });
    });
  });

  it("signs nothing on a ledger that was put back to an earlier state", async () => {
    const earlier = await createSignedHome();
    await earlier.run(async (kernel) => {
      await addRecords(kernel, 3);
      await kernel.signCheckpoint();
    });
    await cp(join(earlier.directory, "store"), join(earlier.directory, "kept"), { recursive: true });
    await earlier.run(signMore);
    await rm(earlier.store, { recursive: true });
    await cp(join(earlier.directory, "kept"), earlier.store, { recursive: true });
    await assert.rejects(earlier.run(signMore), { code: "LEDGER_ROLLED_BACK" });
    await earlier.remove();
  });

  for (const [what, spoil, message] of [
    ["is missing", (path: string) => rm(path), /is missing/],
    ["is damaged", (path: string) => writeFile(path, "-----BEGIN PRIVATE KEY-----\n"), /is damaged/],
    ["can be read by others", (path: string) => chmod(path, 0o644), /can be read by others/],
    ["is a link", async (path: string) => swapForLink(path), /cannot be opened/],
    ["is another key", (path: string) => copyOtherKey(path), /is not the key that the ledger announced/],
  ] as const) {
    it(`signs nothing where its key ${what}, and makes no other`, async () => {
      const path = join(home.keys, "log-signing-key.pem");
      await spoil(path);
      const left = await readdir(home.keys);
      await home.run(async (kernel) => {
        const problem = { code: "LOG_KEY_UNUSABLE", message };
        await assert.rejects(signMore(kernel), problem);
        await assert.rejects(kernel.rotateLogKey(), problem);
        await kernel.proveRecord({ index: 0 });
      });
      assert.deepEqual(await readdir(home.keys), left);
    });
  }

  it("goes on with the announced key, wherever a rotation was stopped", async () => {
    const path = join(home.keys, "log-signing-key.pem");
    const next = join(home.keys, "log-signing-key.next.pem");
    // Stopped before the announcement: the next key is nobody's.
    await copyOtherKey(next);
    const { verifierKey } = await home.run(signMore);
    assert.deepEqual(await readdir(home.keys), ["log-signing-key.pem"]);
    // Stopped after it: both files are there, and the ledger says which one signs.
    const old = await readFile(path);
    const rotated = await home.run((kernel) => kernel.rotateLogKey());
    assert.equal(rotated.previousVerifierKey, verifierKey);
    await cp(path, next);
    await writeFile(path, old);
    const again = await home.run(signMore);
    assert.equal(again.verifierKey, rotated.announced.key.text);
    assert.deepEqual(await readdir(home.keys), ["log-signing-key.pem"]);
    assert.notDeepEqual(await readFile(path), old);
    assert.deepEqual(await readdir(join(home.merkle, "keys")), ["000", "001"]);
  });

  it("makes its key at the first start of a kernel that serves, and announces it when it first signs", async () => {
    const fresh = await createSignedHome();
    await fresh.run((kernel) => addRecords(kernel, 1));
    assert.deepEqual(await readdir(fresh.keys), []);
    await fresh.run(async (kernel) => {
      await kernel.announce();
      await addRecords(kernel, 1);
    });
    assert.deepEqual(await readdir(fresh.keys), ["log-signing-key.pem"]);
    const { isNew } = await fresh.run(sign);
    assert.equal(isNew, false);
    await fresh.remove();
  });
});

async function tilesOf({ merkle }: SignedHome): Promise<Map<string, Buffer>> {
  const tiles = new Map<string, Buffer>();
  for (const entry of await readdir(join(merkle, "tile"), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) tiles.set(path.slice(merkle.length), await readFile(path));
  }
  return tiles;
}

function change({ store }: SignedHome, sql: string): void {
  const database = new DatabaseSync(join(store, "records.db"));
  database.exec(sql);
  database.close();
}

async function copyOtherKey(path: string): Promise<void> {
  const other = await createSignedHome();
  await other.run(async (kernel) => {
    await addRecords(kernel, 1);
    await kernel.signCheckpoint();
  });
  await cp(join(other.keys, "log-signing-key.pem"), path);
  await other.remove();
}

async function swapForLink(path: string): Promise<void> {
  const { rename, symlink } = await import("node:fs/promises");
  await rename(path, `${path}.moved`);
  await symlink(`${path}.moved`, path);
}
