import {
  ContentPlace,
  create,
  fromBinary,
  hashRecord,
  type RecordContent,
  RecordContentSchema,
  type RecordMessage,
  RecordSchema,
  toBinary,
  toHex,
} from "@narthex/contracts";
import type { LedgerRow } from "@narthex/verify";
import { isUncovered } from "../../packages/verify/src/testing/is-uncovered.ts";
import { flip } from "../../packages/verify/src/testing/vectors/apply-edit.ts";
import type { Chance } from "../chance/chance.ts";
import { isDispensable } from "./is-dispensable.ts";
import type { RealLedger } from "./real-ledger.ts";

/** A changed ledger, and where verify has to find the first bad record: one of these; none if it cannot be noticed. */
export interface Tampered {
  readonly ledger: RealLedger;
  readonly expected: readonly number[];
  /** Verify may as well find nothing: which of the two it is depends on what only a signature could tell. */
  readonly maybeUnnoticed?: boolean;
}

export type Tampering = (chance: Chance, ledger: RealLedger, foreign: RealLedger) => Tampered | undefined;

/** Each gives undefined where its dice hit nothing that could be changed. */
export const TAMPERINGS: Readonly<Record<string, Tampering>> = {
  "a bit of a record flipped": (chance, ledger) =>
    changeRow(chance, ledger, (row) => ({ record: flip(row.record, chance.next()) })),
  "a bit of a hash flipped": (chance, ledger) =>
    changeRow(chance, ledger, (row) => ({ hash: flip(row.hash, chance.next()) })),
  "a column changed": (chance, ledger) =>
    changeRow(chance, ledger, (row) =>
      chance.pick([
        { index: row.index + 1 + chance.below(5) },
        { sequence: row.sequence + 1 },
        { chain: `${row.chain}x` },
      ]),
    ),
  "a bit of content flipped"(chance, ledger) {
    const row = chance.pick(ledger.rows.filter(({ content }) => content.length > 0));
    return withContents(ledger, [[row.index, flip(row.content, chance.next())]]);
  },
  "the size of an item changed"(chance, ledger) {
    const row = chance.pick(ledger.rows.filter(({ content }) => content.length > 0));
    const content = fromBinary(RecordContentSchema, row.content);
    const item = chance.pick(content.items);
    item.size += BigInt(1 + chance.below(300));
    return withContents(ledger, [[row.index, toBinary(RecordContentSchema, content)]]);
  },
  "contents of two records swapped"(chance, ledger) {
    const [low, high] = twoRows(chance, ledger);
    return withContents(ledger, [
      [low.index, high.content],
      [high.index, low.content],
    ]);
  },
  "an item of content dropped"(chance, ledger) {
    const row = chance.pick(ledger.rows.filter(({ content }) => content.length > 0));
    const content = fromBinary(RecordContentSchema, row.content);
    content.items.splice(chance.below(content.items.length), 1);
    return withContents(ledger, [[row.index, toBinary(RecordContentSchema, content)]]);
  },
  "a record dropped"(chance, ledger) {
    const at = chance.below(ledger.rows.length - 1);
    return { ledger: { ...ledger, rows: ledger.rows.toSpliced(at, 1) }, expected: [at] };
  },
  "a run of records dropped"(chance, ledger) {
    const at = chance.below(ledger.rows.length - 2);
    const run = 1 + chance.below(ledger.rows.length - at - 1);
    return { ledger: { ...ledger, rows: ledger.rows.toSpliced(at, run) }, expected: [at] };
  },
  "the tail cut off"(chance, ledger) {
    const rows = ledger.rows.slice(0, 1 + chance.below(ledger.rows.length - 1));
    return { ledger: { ...ledger, rows }, expected: [], maybeUnnoticed: true };
  },
  "a record put in a second time"(chance, ledger) {
    const row = chance.pick(ledger.rows);
    const others = ledger.rows.map(({ index }) => index).filter((at) => at !== row.index);
    const at = chance.pick(others);
    return { ledger: { ...ledger, rows: ledger.rows.toSpliced(at, 0, row) }, expected: [at] };
  },
  "two records swapped"(chance, ledger) {
    const [low, high] = twoRows(chance, ledger);
    return {
      ledger: { ...ledger, rows: ledger.rows.with(low.index, high).with(high.index, low) },
      expected: [low.index],
    };
  },
  "all records in another order"(chance, ledger) {
    const rows = chance.shuffle(ledger.rows);
    const first = rows.findIndex((row, at) => row.index !== at);
    return first < 0 ? undefined : { ledger: { ...ledger, rows }, expected: [first] };
  },
  "two records swapped under their columns"(chance, ledger) {
    const [low, high] = twoRows(chance, ledger);
    const rows = ledger.rows.with(low.index, { ...low, ...inside(high) }).with(high.index, { ...high, ...inside(low) });
    return { ledger: { ...ledger, rows }, expected: [low.index] };
  },
  "a record of another chain put in and hashed again"(chance, ledger) {
    const row = chance.pick(ledger.rows);
    const from = chance.pick(ledger.rows.filter(({ chain }) => chain !== row.chain));
    const moved = rewrite({ ...row, ...inside(from) }, (record) => {
      Object.assign(record, { chain: row.chain, index: BigInt(row.index), sequence: BigInt(row.sequence) });
    });
    return replaced(ledger, moved);
  },
  "a record of another ledger put in"(chance, ledger, foreign) {
    const row = chance.pick(ledger.rows);
    const other = foreign.rows[row.index];
    if (other === undefined || toHex(other.hash) === toHex(row.hash)) return undefined;
    if (other.chain === row.chain && other.sequence === row.sequence) return replaced(ledger, other);
    const rows = ledger.rows.with(row.index, other);
    // The beginning of another chain is sound where it stands. What shows is that the clock goes back behind it, and
    // that the chain whose record stood here has none.
    const follower = ledger.rows.find(({ chain, sequence }) => chain === row.chain && sequence === row.sequence + 1);
    const shown = other.sequence === 0 ? [row.index, row.index + 1, follower?.index ?? row.index] : [row.index];
    return {
      ledger: { ...ledger, rows },
      expected: shown,
      maybeUnnoticed: other.sequence === 0 && follower === undefined,
    };
  },
  "a record edited and hashed again": (chance, ledger) =>
    replaced(
      ledger,
      rewrite(chance.pick(ledger.rows), (record) => {
        record.wallTimeMs += BigInt(1 + chance.below(1000));
      }),
    ),
  "a content file damaged": (chance, ledger) => changeFile(chance, ledger, (bytes) => flip(bytes, chance.next())),
  "a content file removed": (chance, ledger) => changeFile(chance, ledger, () => undefined),
};

function changeRow(chance: Chance, ledger: RealLedger, change: (row: LedgerRow) => Partial<LedgerRow>): Tampered {
  const row = chance.pick(ledger.rows);
  return {
    ledger: { ...ledger, rows: ledger.rows.with(row.index, { ...row, ...change(row) }) },
    expected: [row.index],
  };
}

/** Other contents for some records; the first whose commitments cover the difference is to be named. */
function withContents(ledger: RealLedger, contents: readonly (readonly [number, Uint8Array])[]): Tampered | undefined {
  let { rows } = ledger;
  const noticed: number[] = [];
  for (const [index, content] of contents) {
    const row = ledger.rows[index];
    if (row === undefined) return undefined;
    rows = rows.with(index, { ...row, content });
    if (!isUncovered(row.content, content) && !isDispensable(ledger, row, content)) noticed.push(index);
  }
  return noticed.length === 0 ? undefined : { ledger: { ...ledger, rows }, expected: noticed.slice(0, 1) };
}

/**
 * A record that says and hashes what belongs in its place, but is not the one that was there. Its follower shows it;
 * of the last two of a chain nobody can tell which one is bad, nor of the last whether it is.
 */
function replaced(ledger: RealLedger, row: LedgerRow): Tampered {
  const chain = ledger.rows.filter((other) => other.chain === row.chain);
  const at = chain.findIndex(({ index }) => index === row.index);
  const rows = ledger.rows.with(row.index, row);
  if (at < chain.length - 1) return { ledger: { ...ledger, rows }, expected: [row.index] };
  // Of another time than the records around it, the one behind it shows that.
  const expected = [chain[at - 1]?.index ?? row.index, row.index, row.index + 1];
  return { ledger: { ...ledger, rows }, expected, maybeUnnoticed: true };
}

function changeFile(
  chance: Chance,
  ledger: RealLedger,
  change: (bytes: Uint8Array) => Uint8Array | undefined,
): Tampered {
  const [name, bytes] = chance.pick([...ledger.files]);
  const changed = change(bytes);
  const files = new Map(ledger.files);
  if (changed === undefined) files.delete(name);
  else files.set(name, changed);
  const users = ledger.rows.filter(({ content }) => holdsFile(fromBinary(RecordContentSchema, content), name));
  return { ledger: { ...ledger, files }, expected: users.slice(0, 1).map(({ index }) => index) };
}

function holdsFile(content: RecordContent, name: string): boolean {
  return content.items.some(
    ({ place, digest }) => (place === ContentPlace.FILE || place === ContentPlace.ELSEWHERE) && toHex(digest) === name,
  );
}

function twoRows(chance: Chance, ledger: RealLedger): readonly [low: LedgerRow, high: LedgerRow] {
  const low = chance.below(ledger.rows.length - 1);
  const high = low + 1 + chance.below(ledger.rows.length - low - 1);
  return [ledger.rows[low] as LedgerRow, ledger.rows[high] as LedgerRow];
}

function inside({ record, hash, content }: LedgerRow): Pick<LedgerRow, "record" | "hash" | "content"> {
  return { record, hash, content };
}

function rewrite(row: LedgerRow, edit: (record: RecordMessage) => void): LedgerRow {
  const record = fromBinary(RecordSchema, row.record);
  edit(record);
  const bytes = toBinary(RecordSchema, create(RecordSchema, record));
  return { ...row, record: bytes, hash: hashRecord(bytes) };
}
