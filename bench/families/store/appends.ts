import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ContentPlace, ContentRole, hashRecord } from "@narthex/contracts";
import { homePaths, openLedgerStore } from "@narthex/host";
import type { ContentDraft, StateChange, Store, StoreWrite } from "@narthex/kernel";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement, Row } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";

const LONE = 500;
const SHARED = 20_000;
const IN_FLIGHT = 64;

/** Appends a second, alone and with many in flight, beside commits of as many rows by `node:sqlite`. */
export const appends: Measurement = async ({ rounds, scale, directory }) => {
  const store = await openLedgerStore({ paths: homePaths(directory) });
  const raw = openRaw(join(directory, "raw.db"));
  const writes = createWrites();
  const [lone, shared] = [Math.max(50, Math.round(LONE * scale)), Math.max(1000, Math.round(SHARED * scale))];
  const appendRate = (count: number, inFlight: number) => async (): Promise<number> => {
    const all = writes(count);
    return measure(count, () => appendAll(store, inFlight, all));
  };
  const rates = await interleave(rounds, {
    storeLone: appendRate(lone, 1),
    rawLone: () => measure(lone, () => raw(1, lone)),
    storeShared: appendRate(shared, IN_FLIGHT),
    rawShared: () => measure(shared, () => raw(IN_FLIGHT, shared)),
  });
  await store.close();
  const row = (what: string, name: string, ours: readonly number[], theirs: readonly number[]): Row => ({
    what,
    ours: { value: Math.max(...ours), unit: "/s" },
    beside: { value: Math.max(...theirs), unit: "/s", name },
    ratio: ratioOf(ours, theirs),
  });
  return {
    rows: [
      row("appends, one at a time", "node:sqlite, a row a commit", rates.storeLone, rates.rawLone),
      row(
        `appends, ${IN_FLIGHT} in flight`,
        `node:sqlite, ${IN_FLIGHT} rows a commit`,
        rates.storeShared,
        rates.rawShared,
      ),
    ],
    raw: {
      "store, one at a time, /s": rates.storeLone,
      "node:sqlite, a row a commit, /s": rates.rawLone,
      [`store, ${IN_FLIGHT} in flight, /s`]: rates.storeShared,
      [`node:sqlite, ${IN_FLIGHT} rows a commit, /s`]: rates.rawShared,
    },
  };
};

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
  const startedMs = performance.now();
  await run();
  return (total * 1000) / (performance.now() - startedMs);
}
