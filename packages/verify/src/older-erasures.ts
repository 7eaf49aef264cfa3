import { ContentPlace } from "@narthex/contracts";
import { Erasures } from "./erasures.ts";
import { hashOfRecord, sameBytes } from "./ledger-hash.ts";
import { decodeContent } from "./ledger-messages.ts";
import type { LedgerRow, LedgerSource } from "./ledger-source.ts";
import { isRow } from "./open-record.ts";
import type { ProblemList } from "./problem-list.ts";
import { Malformed } from "./wire/decode-canonical.ts";

interface Place {
  readonly index: number;
  readonly chain: string;
}

interface Named extends Place {
  readonly erasedIndex: number;
  readonly item: number;
}

/** Above this number, the records are checked before the ledger is read further. */
const MAX_WAITING = 10_000;

/** Checks items of records that an earlier run has read, if later entries say that they were erased. */
export class OlderErasures {
  /** Number of items that are erased, as recorded. */
  erased = 0;
  readonly #source: LedgerSource;
  readonly #problems: ProblemList;
  readonly #named = new Erasures();
  #waiting: Named[] = [];

  constructor(source: LedgerSource, problems: ProblemList) {
    this.#source = source;
    this.#problems = problems;
  }

  get isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  /** `place` is the record with the entry about the erasure. */
  name(erasedIndex: number, item: number, { index, chain }: Place): void {
    if (this.#named.explain(erasedIndex, item)) this.#contradict({ index, chain, erasedIndex, item });
    this.#named.note(erasedIndex, item);
    this.#waiting.push({ index, chain, erasedIndex, item });
  }

  async resolve(): Promise<void> {
    const waiting = this.#waiting.sort((left, right) => left.erasedIndex - right.erasedIndex);
    this.#waiting = [];
    let row: LedgerRow | undefined;
    for (const named of waiting) {
      if (row?.index !== named.erasedIndex) row = await this.#read(named.erasedIndex);
      if (row !== undefined && isErased(row, named.item)) this.erased++;
      else this.#contradict(named);
    }
  }

  async #read(index: number): Promise<LedgerRow | undefined> {
    try {
      for await (const row of this.#source.records(index)) return row.index === index ? row : undefined;
    } catch {
      // An item that cannot be read is not known to be erased.
    }
    return undefined;
  }

  #contradict({ erasedIndex, item, ...place }: Named): void {
    const what = `item ${item} of record ${erasedIndex}`;
    this.#problems.add("erasure_contradicts", place, `${what} is said to have been erased here and was not`);
  }
}

function isErased(row: LedgerRow, item: number): boolean {
  if (!isRow(row) || !sameBytes(hashOfRecord(row.record), row.hash)) return false;
  const content = decodeContent(row.content);
  const found = content instanceof Malformed ? undefined : content.items[item];
  return found?.place === ContentPlace.ERASED && found.digest.length + found.nonce.length + found.data.length === 0;
}
