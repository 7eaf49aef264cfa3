import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { RecordIndex } from "./record-index.ts";
import { openIndex, openRecordsForWriting } from "./store-files.ts";

it("looks up a chain's content without looking at other chains", () =>
  withFiles(async (_records, indexFile) => {
    const plan = (sql: string): string =>
      indexFile
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => String(row["detail"]))
        .join("; ");
    assert.match(
      plan("SELECT role FROM holdings WHERE digest = x'00' AND chain = 1"),
      /SEARCH .*digest=\? AND chain=\?/,
    );
    assert.match(
      plan("SELECT label FROM labels WHERE digest = x'00' AND chain = 1"),
      /SEARCH .*digest=\? AND chain=\?/,
    );
    assert.match(plan("SELECT last FROM requests WHERE chain = 1 AND request_id = 'r'"), /SEARCH .*request_id=\?/);
    assert.match(plan("SELECT idx FROM places WHERE chain = 1 AND idx >= 5 ORDER BY idx DESC"), /^SEARCH[^;]*$/);
  }));

it("answers the same from memory, from the file, and from both", () =>
  withFiles(async (records, indexFile) => {
    const insert = records.prepare("INSERT INTO records VALUES (?, ?, ?, ?, x'00', x'', ?)");
    const holding = (fill: number, role: number, place: number, label?: string): number[] => {
      const digest = Array.from({ length: 32 }, () => fill);
      const item = [0x08, role, 0x12, 32, ...digest, 0x28, place];
      if (label !== undefined) item.push(0x3a, label.length, ...Buffer.from(label));
      return [0x0a, item.length, ...item];
    };
    const rows = [
      ["a", "r1", holding(1, 5, 3)],
      ["b", "r1", [...holding(1, 7, 1, "x"), ...holding(2, 7, 1)]],
      ["a", "r2", holding(1, 5, 1, "y")],
      ["a", "r1", [...holding(1, 7, 1, "x"), ...holding(1, 5, 2)]],
      ["b", "", holding(2, 7, 1, "z")],
    ] as const;
    rows.forEach(([chain, requestId, content], at) => insert.run(at, chain, at, requestId, Uint8Array.from(content)));
    const ask = (index: RecordIndex): unknown => ({
      heads: ["a", "b", "c"].map((chain) => index.chainHead(chain)),
      first: index.chainRecords("a", 1, 2, "first"),
      newest: index.chainRecords("a", 0, 2, "newest"),
      requests: ["r1", "r2", "r3"].map((id) => index.findRequest("a", id)),
      ofChain: index.findContent(new Uint8Array(32).fill(1), "a"),
      ofAll: index.findContent(new Uint8Array(32).fill(1), undefined),
      other: index.findContent(new Uint8Array(32).fill(2), "b"),
    });

    const inMemory = new RecordIndex(records, indexFile);
    assert.equal(inMemory.catchUp(100), 5);
    const expected = ask(inMemory);
    assert.deepEqual(Reflect.get(Object(expected), "heads"), [3, 4, undefined]);

    const inBoth = new RecordIndex(records, indexFile);
    assert.equal(inBoth.catchUp(2), 2);
    inBoth.flush();
    inBoth.catchUp(100);
    assert.deepEqual(ask(inBoth), expected);

    inBoth.flush();
    assert.deepEqual(ask(inBoth), expected);
    const inFile = new RecordIndex(records, indexFile);
    assert.equal(inFile.catchUp(100), 0);
    assert.deepEqual(ask(inFile), expected);
    assert.ok(inFile.matchesRecords());
  }));

async function withFiles(run: (records: DatabaseSync, indexFile: DatabaseSync) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-index-"));
  const records = openRecordsForWriting(directory);
  const indexFile = openIndex(directory);
  try {
    await run(records, indexFile);
  } finally {
    records.close();
    indexFile.close();
    await rm(directory, { recursive: true });
  }
}
