/** Appends per second of the store beside commits of `node:sqlite` on the main thread, interleaved in one run. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ContentPlace, ContentRole, hashRecord } from "@narthex/contracts";
import { openSqliteStore } from "@narthex/host";
import type { ContentDraft, StateChange, Store, StoreWrite } from "@narthex/kernel";

const ROUNDS = 5;
const LONE = 500;
const SHARED = 20_000;
const IN_FLIGHT = 64;

const directory = await mkdtemp(join(process.argv[2] ?? tmpdir(), "narthex-bench-"));
const store = await openSqliteStore({ directory: join(directory, "store") });
const raw = openRaw(join(directory, "raw.db"));
const writes = createWrites();
const timings = { storeLone: [0], rawLone: [0], storeShared: [0], rawShared: [0] };
for (const timing of Object.values(timings)) timing.length = 0;

try {
  await appendAll(store, 1, writes(LONE));
  for (let round = 0; round < ROUNDS; round++) {
    const [lone, shared] = [writes(LONE), writes(SHARED)];
    timings.storeLone.push(await measure(LONE, () => appendAll(store, 1, lone)));
    timings.rawLone.push(await measure(LONE, () => raw(1, LONE)));
    timings.storeShared.push(await measure(SHARED, () => appendAll(store, IN_FLIGHT, shared)));
    timings.rawShared.push(await measure(SHARED, () => raw(IN_FLIGHT, SHARED)));
  }
  print("1 in flight", timings.storeLone, timings.rawLone);
  print(`${IN_FLIGHT} in flight`, timings.storeShared, timings.rawShared);
} finally {
  await store.close();
  await rm(directory, { recursive: true });
}

/** Records of 1.2 KB with their content: four items, three of them new with each record. */
function createWrites(): (count: number) => StoreWrite[] {
  const chain = "ses_aaaaaaaaaaaaaaaaaaaa";
  const record = randomBytes(560);
  const hash = hashRecord(record);
  const proof = item(ContentRole.PROOF);
  const state: StateChange[] = [{ table: "sessions", key: chain, value: randomBytes(300) }];
  let next = 0;
  return (count) =>
    Array.from({ length: count }, () => {
      const index = next++;
      const content = [item(ContentRole.INPUT), item(ContentRole.REQUEST), proof, item(ContentRole.RESULT)];
      return { index, chain, sequence: index, requestId: `req_${index}`, hash, record, content, state };
    });
}

function item(role: ContentRole): ContentDraft {
  const data = randomBytes(80);
  return { role, digest: randomBytes(32), nonce: randomBytes(32), size: data.length, place: ContentPlace.ROW, data };
}

async function appendAll(target: Store, inFlight: number, all: readonly StoreWrite[]): Promise<void> {
  const rest = all.values();
  const lane = async (): Promise<void> => {
    for (const write of rest) await target.append(write);
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
