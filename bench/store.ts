/** Appends per second of the store beside commits of `node:sqlite` on the main thread, interleaved in one run. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { hashRecord } from "@narthex/contracts";
import { openSqliteStore } from "@narthex/host";
import type { ContentDraft, StateChange, Store, StoreWrite } from "@narthex/kernel";

const ROUNDS = 5;
const LONE = 500;
const SHARED = 20_000;
const IN_FLIGHT = 64;

const directory = await mkdtemp(join(process.argv[2] ?? tmpdir(), "narthex-bench-"));
const store = await openSqliteStore({ directory: join(directory, "store") });
const raw = openRaw(join(directory, "raw.db"));
const write = createWrites();
const timings = { storeLone: [0], rawLone: [0], storeShared: [0], rawShared: [0] };
for (const timing of Object.values(timings)) timing.length = 0;

try {
  await appendAll(store, IN_FLIGHT, SHARED);
  for (let round = 0; round < ROUNDS; round++) {
    timings.storeLone.push(await measure(LONE, () => appendAll(store, 1, LONE)));
    timings.rawLone.push(await measure(LONE, () => raw(1, LONE)));
    timings.storeShared.push(await measure(SHARED, () => appendAll(store, IN_FLIGHT, SHARED)));
    timings.rawShared.push(await measure(SHARED, () => raw(IN_FLIGHT, SHARED)));
  }
  print("1 in flight", timings.storeLone, timings.rawLone);
  print(`${IN_FLIGHT} in flight`, timings.storeShared, timings.rawShared);
} finally {
  await store.close();
  await rm(directory, { recursive: true });
}

/** Records of 1.2 KB with their content: four items, two of them new with each record. */
function createWrites(): () => StoreWrite {
  const record = randomBytes(560);
  const proof = item(4);
  const hash = hashRecord(record);
  const state: StateChange[] = [{ table: "sessions", key: "ses_aaaaaaaaaaaaaaaaaaaa", value: randomBytes(300) }];
  let index = 0;
  return () => {
    const at = index++;
    const content = [item(1), item(2), proof, item(5)];
    return {
      index: at,
      chain: "ses_aaaaaaaaaaaaaaaaaaaa",
      sequence: at,
      requestId: `req_${at}`,
      hash,
      record,
      content,
      state,
    };
  };
}

function item(role: number): ContentDraft {
  const data = randomBytes(80);
  return { role, digest: randomBytes(32), nonce: randomBytes(32), size: data.length, place: 1, data };
}

async function appendAll(target: Store, inFlight: number, total: number): Promise<void> {
  const lane = async (): Promise<void> => {
    for (let done = 0; done < total / inFlight; done++) await target.append(write());
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

function openRaw(path: string): (perCommit: number, total: number) => void {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE records (idx INTEGER PRIMARY KEY, hash BLOB, record BLOB, content BLOB) STRICT;`);
  const insert = database.prepare("INSERT INTO records (hash, record, content) VALUES (?, ?, ?)");
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const hash = randomBytes(32);
  const record = randomBytes(560);
  const content = randomBytes(640);
  return (perCommit, total) => {
    for (let done = 0; done < total; done += perCommit) {
      begin.run();
      for (let count = 0; count < perCommit; count++) insert.run(hash, record, content);
      commit.run();
    }
  };
}

async function measure(total: number, run: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return (total / (performance.now() - start)) * 1000;
}

function print(name: string, ours: number[], theirs: number[]): void {
  const [store, sqlite] = [median(ours), median(theirs)];
  const latency = name.startsWith("1 ") ? `, ${(1000 / store).toFixed(2)} ms each` : "";
  console.log(
    `${name.padEnd(13)} store ${store.toFixed(0)}/s${latency}; node:sqlite on the main thread ${sqlite.toFixed(0)}/s; ratio ${(store / sqlite).toFixed(2)}`,
  );
}

function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
