import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { create, fromBinary, hashRecord, RecordSchema, toBinary } from "@narthex/contracts";
import { createKernel } from "../doors/socket-kernel.ts";

/** A home with a signed ledger, and what somebody kept of it elsewhere. */
export interface SignedHome {
  readonly path: string;
  readonly verifierKey: string;
  /** Files with checkpoints: an early one, and the last. */
  readonly early: string;
  readonly late: string;
  readonly records: number;
  /** Records that the last checkpoint covers. */
  readonly signed: number;
  /** The home as it was when the early one was signed. */
  readonly before: string;
}

/** Calls and a checkpoint, three times; the last one is what a kernel signs when it is closed. */
export async function createSignedHome(root: string, name: string): Promise<SignedHome> {
  const path = join(root, name);
  const early = await extendHome(path, ["one", "two", "three"]);
  const before = join(root, `${name}-before`);
  await cp(path, before, { recursive: true });
  const late = await extendHome(path, ["four", "five", "six"]);
  const kernel = await createKernel({ data: path });
  await callAll(kernel, ["seven"]);
  await kernel.close();
  const verifierKey = (await readFile(join(path, "log", "verifier-key"), "utf8")).trim();
  return {
    path,
    verifierKey,
    early: await keep(root, `${name}-early`, early),
    late: await keep(root, `${name}-late`, late),
    records: await countRecords(path),
    signed: Number((await readFile(join(path, "log", "checkpoint"), "utf8")).split("\n")[1]),
    before,
  };
}

export async function countRecords(home: string): Promise<number> {
  const database = new DatabaseSync(join(home, "store", "records.db"));
  const count = database.prepare("SELECT count(*) AS count FROM records").get()?.["count"];
  database.close();
  return Number(count);
}

/** Calls in a session of their own and a checkpoint for them; answers the signed note. */
export async function extendHome(path: string, words: readonly string[]): Promise<string> {
  const kernel = await createKernel({ data: path });
  await callAll(kernel, words);
  const { note } = await kernel.signCheckpoint();
  await kernel.close();
  return note;
}

export async function keep(root: string, name: string, note: string): Promise<string> {
  const file = join(root, `${name}.note`);
  await writeFile(file, note);
  return file;
}

/** A copy of a home with its records changed. */
export async function tamper(home: string, change: (records: DatabaseSync) => void): Promise<string> {
  const copy = `${await mkdtemp(join(tmpdir(), "narthex-tampered-"))}/home`;
  await cp(home, copy, { recursive: true });
  const database = new DatabaseSync(join(copy, "store", "records.db"));
  try {
    change(database);
  } finally {
    database.close();
  }
  return copy;
}

export async function removeTampered(home: string): Promise<void> {
  await rm(join(home, ".."), { recursive: true });
}

export interface StoredRow {
  readonly idx: number;
  readonly chain: string;
  readonly sequence: number;
  readonly record: Uint8Array;
  readonly hash: Uint8Array;
}

export function rowsOf(records: DatabaseSync): StoredRow[] {
  return records.prepare("SELECT idx, chain, sequence, record, hash FROM records ORDER BY idx").all().map(toRow);
}

export function updateRow(records: DatabaseSync, idx: number, column: string, value: SQLInputValue): void {
  records.prepare(`UPDATE records SET ${column} = ? WHERE idx = ?`).run(value, idx);
}

export function flipByte(bytes: Uint8Array, at: number): Uint8Array {
  return Uint8Array.from(bytes, (byte, i) => (i === at ? byte ^ 1 : byte));
}

/** Changes one record and then everything in its chain that follows from it, as somebody does who can write all of the store. */
export function rewriteChain(records: DatabaseSync, idx: number): void {
  const rows = rowsOf(records);
  const chain = rows[idx]?.chain;
  let previous: Uint8Array | undefined;
  for (const row of rows) {
    if (row.idx < idx || row.chain !== chain) continue;
    const message = fromBinary(RecordSchema, row.record);
    if (previous === undefined) message.wallTimeMs += 1n;
    else message.previousHash = new Uint8Array(previous);
    const record = toBinary(RecordSchema, create(RecordSchema, message));
    previous = hashRecord(record);
    updateRow(records, row.idx, "record", record);
    updateRow(records, row.idx, "hash", previous);
  }
}

async function callAll(kernel: Awaited<ReturnType<typeof createKernel>>, words: readonly string[]): Promise<void> {
  const workspace = await mkdtemp(join(tmpdir(), "narthex-workspace-"));
  const session = await kernel.session({ workspace });
  for (const word of words) {
    const { status } = await session.call("echo", word);
    if (status !== "success") throw new Error(`echo answered ${status}`);
  }
  await session.close();
  await rm(workspace, { recursive: true });
}

function toRow({ idx, chain, sequence, record, hash }: Record<string, unknown>): StoredRow {
  if (typeof idx !== "number" || typeof chain !== "string" || typeof sequence !== "number")
    throw new TypeError("no row");
  if (!(record instanceof Uint8Array) || !(hash instanceof Uint8Array)) throw new TypeError("a row without bytes");
  return { idx, chain, sequence, record, hash };
}
