import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { equalBytes, hashRecord } from "@narthex/contracts";
import { createLedgerWrites } from "@narthex/testkit";
import { sampled } from "../../../../test/sampled.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const CHILD = fileURLToPath(new URL("./testing/append-worker.ts", import.meta.url));

const LOADS = [
  [16, 180],
  [1, 5],
  [64, 700],
] as const;

for (const [lanes, acknowledgements] of sampled(LOADS, 2)) {
  it(`keeps every acknowledged record when killed with ${lanes} in flight`, () =>
    inDirectory(async (directory) => {
      let acknowledged = 0;
      for (const [crash, kind] of ["lasting", "brief"].entries()) {
        const child = spawn(process.execPath, [CHILD, directory, String(lanes), "0", kind], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        const lines = readLines(child);
        const target = acknowledged + acknowledgements + crash * 7;
        for await (const line of lines) {
          acknowledged = Number(line) + 1;
          if (acknowledged >= target && !child.killed) child.kill("SIGKILL");
        }
        await assertIntact(directory, acknowledged);
      }
    }));
}

it("passes over a torn end of the log", () =>
  inDirectory(async (directory) => {
    const child = spawn(process.execPath, [CHILD, directory, "1"], { stdio: ["ignore", "pipe", "inherit"] });
    let acknowledged = 0;
    for await (const line of readLines(child)) {
      acknowledged = Number(line) + 1;
      if (acknowledged >= 3) child.kill("SIGKILL");
    }
    const log = join(directory, "records.db-wal");
    const torn = (await readFile(log)).subarray(0, 5000);
    await appendFile(log, torn);
    await assertIntact(directory, acknowledged);
  }));

for (const kind of ["lasting", "brief"]) {
  it(`refuses everything once the disk is full, and has lost nothing it acknowledged, being ${kind}`, () =>
    inDirectory(async (directory) => {
      // A limit on the size of files stands for a full disk: writes beyond it fail in the same place.
      const command = 'ulimit -f 3000 && exec "$0" "$@"';
      const args = ["-c", command, process.execPath, CHILD, directory, "8", "20000", kind];
      const child = spawn("/bin/bash", args, { stdio: ["ignore", "pipe", "inherit"] });
      let acknowledged = 0;
      const refusals: string[] = [];
      for await (const line of readLines(child)) {
        if (/^\d+$/.test(line)) acknowledged = Number(line) + 1;
        else refusals.push(line);
      }
      assert.ok(acknowledged > 0);
      assert.equal(refusals.filter((line) => line.startsWith("refused STORE_UNAVAILABLE: ")).length, 8);
      assert.match(String(refusals.at(-1)), /^afterwards STORE_UNAVAILABLE: /);
      await assertIntact(directory, acknowledged);
    }));
}

it("lets a program end that forgot to close it, lasting or brief", () =>
  inDirectory(async (directory) => {
    const script = `import { openSqliteStore } from ${JSON.stringify(new URL("./sqlite-store.ts", import.meta.url).href)};
      import { createLedgerWrites } from ${JSON.stringify(import.meta.resolve("@narthex/testkit/ledger-writes"))};
      for (const [number, isBrief] of [false, true].entries()) {
        const store = await openSqliteStore({ directory: ${JSON.stringify(directory)} + number, isBrief });
        await store.append(createLedgerWrites()());
      }`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
    assert.deepEqual(await once(child, "exit"), [0, null]);
    for (const number of [0, 1]) {
      await assertIntact(`${directory}${number}`, 1);
      await rm(`${directory}${number}`, { recursive: true });
    }
  }));

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-crash-"));
  try {
    await run(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

function readLines(child: ChildProcess): AsyncIterable<string> {
  assert.ok(child.stdout);
  return createInterface({ input: child.stdout });
}

/** No gap, every record whole, state of the last record, index in step, and the ledger goes on. */
async function assertIntact(directory: string, acknowledged: number): Promise<void> {
  const store = await openSqliteStore({ directory });
  try {
    const { nextIndex } = await store.head();
    assert.ok(nextIndex >= acknowledged, `${acknowledged} acknowledged, ${nextIndex} found`);
    const records = await store.readRecords({ limit: nextIndex + 1 });
    records.forEach((record, index) => {
      assert.equal(record.index, index);
      assert.ok(equalBytes(record.hash, hashRecord(record.record)));
    });
    assert.equal(records.length, nextIndex);
    const last = await store.getState("meta", "last");
    if (last !== undefined) assert.equal(Buffer.from(last).toString(), String(nextIndex - 1));
    if (last !== undefined) assert.equal(await store.findRequest("ses_crash", "r"), nextIndex - 1);
    assert.equal((await store.readRecords({ chain: records[0]?.chain ?? "", limit: nextIndex })).length, nextIndex);
    await store.append({
      ...createLedgerWrites(nextIndex)({ chain: records[0]?.chain ?? "" }),
      state: [lastIs(nextIndex)],
    });
  } finally {
    await store.close();
  }
}

function lastIs(index: number) {
  return { table: "meta" as const, key: "last", value: Buffer.from(String(index)) };
}
