import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, mkdtemp, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { blake3, ContentPlace, ContentRole, isKernelError, utf8 } from "@narthex/contracts";
import type { Store } from "@narthex/kernel";
import { createLedgerWrites } from "@narthex/testkit";
import { openSqliteStore } from "./sqlite-store.ts";

const DIGEST = blake3(utf8("content"));

it("refuses a file that is no database", () =>
  inDirectory(async (directory) => {
    await writeFile(join(directory, "records.db"), "not a database, but long enough to be taken for one".repeat(100));
    await assert.rejects(
      openSqliteStore({ directory }),
      unavailable(/cannot be opened: `.*records\.db`: file is not a database; .* backup/),
    );
  }));

it("refuses a database of another program", () =>
  inDirectory(async (directory) => {
    change(directory, "CREATE TABLE notes (text TEXT)");
    await assert.rejects(openSqliteStore({ directory }), unavailable(/is not a narthex store/));
  }));

it("refuses a store of a newer version, and leaves it as it is", () =>
  inDirectory(async (directory) => {
    await fill(directory);
    change(directory, "PRAGMA user_version = 2");
    await assert.rejects(openSqliteStore({ directory }), unavailable(/schema version 2 .* knows up to 1/));
    change(directory, "PRAGMA user_version = 1");
    await withStore(directory, async (store) => assert.equal((await store.head()).nextIndex, 3));
  }));

it("refuses a directory that cannot be made", () =>
  inDirectory(async (directory) => {
    await writeFile(join(directory, "file"), "");
    await assert.rejects(openSqliteStore({ directory: join(directory, "file", "store") }), unavailable(/ENOTDIR/));
  }));

it("refuses a directory that cannot be written", () =>
  inDirectory(async (directory) => {
    const store = join(directory, "store");
    await mkdir(store);
    await chmod(directory, 0o755);
    await chmod(store, 0o555);
    const script = `import { openSqliteStore } from ${JSON.stringify(new URL("./sqlite-store.ts", import.meta.url).href)};
      await openSqliteStore({ directory: ${JSON.stringify(store)} }).then(
        () => console.log("opened"),
        (error) => console.log(error.code, error.message),
      );`;
    // Permissions bind everybody but root.
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { ...nobody, stdio: "pipe" });
    const answer: unknown[] = await once(child.stdout, "data");
    assert.match(String(answer[0]), /^STORE_UNAVAILABLE .*(permission|EPERM|EACCES|unable to open)/i);
  }));

it("does not go on from a last record that was changed, and still shows it", () =>
  inDirectory(async (directory) => {
    await fill(directory);
    change(directory, "UPDATE records SET record = CAST(record || x'00' AS BLOB) WHERE idx = 2");
    await withStore(directory, async (store) => {
      await assert.rejects(store.append(createLedgerWrites(3)()), unavailable(/last record is damaged/));
      assert.equal((await store.readRecords({ limit: 10 })).length, 3);
    });
  }));

it("says so when a page of the file is damaged", () =>
  inDirectory(async (directory) => {
    await withStore(directory, async (store) => {
      const write = createLedgerWrites();
      await Promise.all(Array.from({ length: 100 }, () => store.append(write({ padding: 1000 }))));
    });
    const file = await open(join(directory, "records.db"), "r+");
    await file.write(new Uint8Array(8192).fill(0xff), 0, 8192, 5 * 8192);
    await file.close();
    await withStore(directory, async (store) => {
      await assert.rejects(store.readRecords({ limit: 100 }), unavailable(/malformed/));
    });
  }));

it("still shows the rest of a ledger that lost records", () =>
  inDirectory(async (directory) => {
    await fill(directory);
    change(directory, "DELETE FROM records WHERE idx = 1; UPDATE records SET content = x'ff' WHERE idx = 0");
    await rm(join(directory, "index.db"));
    await withStore(directory, async (store) => {
      const found = await store.readRecords({ limit: 10, chain: "ses_a" });
      assert.deepEqual(
        found.map(({ index }) => index),
        [0, 2],
      );
      assert.equal(await store.readRecord(1), undefined);
    });
  }));

it("lets a second writer of the same files break itself rather than fork the ledger", () =>
  inDirectory(async (directory) => {
    await withStore(directory, (first) =>
      withStore(directory, async (second) => {
        await first.append(createLedgerWrites()({ chain: "first" }));
        const write = createLedgerWrites();
        await assert.rejects(second.append(write({ chain: "second" })), unavailable(/UNIQUE constraint/));
        await assert.rejects(second.append(write({ chain: "second" })), unavailable(/UNIQUE constraint/));
        assert.equal((await second.readRecord(0))?.chain, "first");
      }),
    );
  }));

it("keeps its files from everybody but their owner", () =>
  inDirectory(async (directory) => {
    const store = join(directory, "deep", "store");
    await withStore(store, async (opened) => {
      await opened.append(createLedgerWrites()());
      await opened.findRequest("system", "r");
      assert.equal((await stat(store)).mode & 0o777, 0o700);
      const names = await readdir(store);
      assert.ok(names.includes("records.db-wal"));
      for (const name of names) assert.equal((await stat(join(store, name))).mode & 0o777, 0o600, name);
    });
  }));

for (const [what, spoil] of [
  ["is missing", (index: string) => rm(index)],
  ["is damaged", (index: string) => writeFile(index, "garbage".repeat(1000))],
  ["is of another version", async (index: string) => changeFile(index, "PRAGMA user_version = 99")],
  ["was emptied", async (index: string) => changeFile(index, "DELETE FROM mark; DELETE FROM holdings")],
] as const) {
  it(`makes the index again when it ${what}`, () =>
    inDirectory(async (directory) => {
      await fill(directory);
      await spoil(join(directory, "index.db"));
      await assertIndexed(directory);
    }));
}

it("makes the index again when it belongs to other records", () =>
  inDirectory(async (directory) => {
    const [ours, theirs] = [join(directory, "ours"), join(directory, "theirs")];
    await fill(ours);
    await withStore(theirs, async (store) => {
      const write = createLedgerWrites();
      for (let count = 0; count < 3; count++) await store.append(write({ chain: "ses_other", requestId: "r1" }));
    });
    await copyFile(join(theirs, "index.db"), join(ours, "index.db"));
    await assertIndexed(ours);
  }));

for (const [how, forget] of [
  ["that the index knows", false],
  ["that nobody knows any more", true],
] as const) {
  it(`request ids of a chain with a lost record, ${how}, are not listed as if they were all`, () =>
    inDirectory(async (directory) => {
      await fill(directory);
      if (forget) await rm(join(directory, "index.db"));
      change(directory, "DELETE FROM records WHERE idx = 0");
      await withStore(directory, async (store) => {
        await assert.rejects(store.listRequestIds("ses_a", 10), unavailable(/record 0 of `ses_a` is lost/));
        assert.deepEqual(await store.listRequestIds("ses_b", 10), ["r1"]);
      });
    }));
}

/** Without threads, which write the same bytes and take longer to start. */
async function fill(directory: string): Promise<void> {
  const store = await openSqliteStore({ directory, isSingleThreaded: true });
  const write = createLedgerWrites();
  const data = utf8("content");
  const content = [
    { role: ContentRole.RESULT, digest: DIGEST, size: data.length, place: ContentPlace.ROW, data, labels: ["l"] },
  ];
  await store.append(write({ chain: "ses_a", requestId: "r1" }));
  await store.append(write({ chain: "ses_b", requestId: "r1" }));
  await store.append(write({ chain: "ses_a", requestId: "r2", content }));
  await store.close();
}

async function assertIndexed(directory: string): Promise<void> {
  await withStore(directory, async (store) => {
    assert.equal(await store.findRequest("ses_a", "r1"), 0);
    assert.equal(await store.findRequest("ses_b", "r1"), 1);
    assert.equal(await store.findRequest("ses_other", "r1"), undefined);
    assert.deepEqual((await store.findContent(DIGEST, "ses_a"))[0]?.labels, ["l"]);
    assert.equal((await store.chainHead("ses_a"))?.sequence, 1);
  });
}

async function withStore(directory: string, run: (store: Store) => Promise<void>): Promise<void> {
  const store = await openSqliteStore({ directory });
  try {
    await run(store);
  } finally {
    await store.close();
  }
}

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-files-"));
  try {
    await run(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

function change(directory: string, sql: string): void {
  changeFile(join(directory, "records.db"), sql);
}

function changeFile(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

function unavailable(message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(isKernelError(error));
    assert.equal(error.code, "STORE_UNAVAILABLE");
    assert.match(error.message, message);
    return true;
  };
}
