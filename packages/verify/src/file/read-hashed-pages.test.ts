import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { LedgerBuilder } from "../testing/ledger-builder.ts";
import { sampleLedger } from "../testing/sample-ledger.ts";
import { verifyLedger } from "../verify-ledger.ts";
import { openLedgerFile } from "./open-ledger-file.ts";
import { readHashedPages } from "./read-hashed-pages.ts";

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), "narthex-pages-"));
});
after(() => rm(directory, { recursive: true }));

/** Not a strict table: whoever wrote the file may have made it as he liked. */
function writeFile(name: string, ledger: LedgerBuilder, change = ""): string {
  const path = join(directory, name);
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE records (idx INTEGER PRIMARY KEY, chain, sequence, request_id, hash, record, content)");
  const insert = database.prepare("INSERT INTO records VALUES (?, ?, ?, '', ?, ?, ?)");
  database.exec("BEGIN");
  for (const row of ledger.rows) insert.run(row.index, row.chain, row.sequence, row.hash, row.record, row.content);
  database.exec(change);
  database.exec("COMMIT");
  database.close();
  return path;
}

async function verifyBoth(path: string, ledger: LedgerBuilder) {
  const file = openLedgerFile(path);
  const source = {
    async *records() {
      for (const page of file.pages()) yield* page;
    },
    readFile: (digest: Uint8Array) => ledger.readFile(digest),
  };
  const alone = await verifyLedger(source);
  const threaded = await verifyLedger({ ...source, hashedPages: () => readHashedPages(path) });
  file.close();
  return { alone, threaded };
}

test("finds the same with and without a thread for reading and hashing", async () => {
  const changes = ["", "UPDATE records SET hash = x'00' WHERE idx = 6", "DELETE FROM records WHERE idx = 9"].concat(
    "UPDATE records SET content = x'ffff' WHERE idx = 4",
    "UPDATE records SET record = 'text' WHERE idx = 5",
    "UPDATE records SET chain = 7 WHERE idx = 3",
  );
  for (const [n, change] of changes.entries()) {
    const ledger = sampleLedger();
    const { alone, threaded } = await verifyBoth(writeFile(`changed-${n}`, ledger, change), ledger);
    assert.deepEqual(threaded, alone);
    assert.equal(threaded.problemCount > 0, change !== "", change);
  }
});

test("returns many pages complete and in order", async () => {
  const ledger = new LedgerBuilder();
  const value = { door: "framed", reason: "x".repeat(300), count: 1 };
  for (let i = 0; i < 3000; i++) ledger.append({ chain: "system", entries: [{ case: "requestRefused", value }] });
  const { alone, threaded } = await verifyBoth(writeFile("many", ledger), ledger);
  assert.deepEqual([threaded.records, threaded.problemCount], [3000, 0]);
  assert.deepEqual(threaded, alone);
});

test("fails for a file that is not a store as for an unreadable one", async () => {
  const report = await verifyLedger({
    async *records() {},
    readFile: () => undefined,
    hashedPages: () => readHashedPages(join(directory, "nothing", "here")),
  });
  assert.equal(report.problems[0]?.code, "unreadable");
});
