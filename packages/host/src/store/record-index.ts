import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { ContentHolding } from "@narthex/kernel";
import { PLACE_ELSEWHERE, PLACE_FILE, PLACE_ROW, ROLE_ARTIFACT, ROLE_REQUEST } from "./content-numbers.ts";
import { hasBytes, type PendingHolding, PendingIndex } from "./pending-index.ts";
import { type ScannedItem, scanRecordContent } from "./record-content.ts";

const MAX_HOLDINGS = 100;
const MAX_CHAIN_IDS = 10_000;

/**
 * Finds records by chain, request id and content. All its data derives from the records, in order, up to a mark that
 * moves in the same transaction; `catchUp` reads records beyond it, `flush` writes them.
 */
export class RecordIndex {
  readonly #statements: Statements;
  readonly #pending = new PendingIndex();
  readonly #chainIds = new Map<string, number>();
  #next: number;

  constructor(records: DatabaseSync, index: DatabaseSync) {
    this.#statements = prepareStatements(records, index);
    this.#next = numberOf(this.#statements.getMark.get()?.["next"]) ?? 0;
  }

  /** Records that were read and not yet written to the index. */
  get pendingRecords(): number {
    return this.#pending.records;
  }

  /** Set if the index was built from more records than exist now: both numbers. */
  get missingAfter(): { readonly indexed: number; readonly found: number } | undefined {
    const indexed = this.#next;
    const found = (numberOf(this.#statements.getLast.get()?.["idx"]) ?? -1) + 1;
    return indexed > found ? { indexed, found } : undefined;
  }

  /** Whether the index was built from these records; false after a restore from a backup, for instance. */
  matchesRecords(): boolean {
    if (this.#next === 0) return true;
    const expected = this.#statements.getMark.get()?.["hash"];
    const found = this.#statements.getHash.get(this.#next - 1)?.["hash"];
    if (!(expected instanceof Uint8Array) || !(found instanceof Uint8Array)) return false;
    return Buffer.compare(expected, found) === 0;
  }

  /** Reads at most `limit` more records and returns how many it read. */
  catchUp(limit: number): number {
    let count = 0;
    for (const row of this.#statements.readFrom.iterate(this.#next, limit)) {
      const [idx, chain, requestId, content] = Object.values(row);
      const index = Number(idx);
      this.#pending.add(index, String(chain), String(requestId), scanSound(content));
      // Gaps are not reported here, but by the ledger's verifier.
      this.#next = index + 1;
      count++;
    }
    return count;
  }

  /** Writes pending entries, where it helps in key order so that neighbours share pages. */
  flush(): void {
    const { begin, commit, addPlace, addRequest, addHolding, addLabel, setMark } = this.#statements;
    if (this.#pending.records === 0) return;
    begin.run();
    const holdings: [PendingHolding, number][] = [];
    for (const [chain, pending] of this.#pending.chains) {
      const id = this.#chainId(chain);
      for (const index of pending.places) addPlace.run(id, index);
      for (const [requestId, index] of pending.requests) addRequest.run(id, requestId, index);
      for (const holding of pending.holdings.values()) holdings.push([holding, id]);
      for (const [digest, labels] of pending.labels) {
        for (const label of labels) addLabel.run(Buffer.from(digest, "latin1"), id, label);
      }
    }
    holdings.sort(([left], [right]) => (left.digest < right.digest ? -1 : 1));
    for (const [{ digest, role, recordIndex, item, place, size }, id] of holdings) {
      addHolding.run(Buffer.from(digest, "latin1"), id, role, recordIndex, item, place, size);
    }
    setMark.run(this.#next, this.#statements.getHash.get(this.#next - 1)?.["hash"] ?? null);
    commit.run();
    this.#pending.clear();
  }

  /** Returns the index of a chain's newest record. */
  chainHead(chain: string): number | undefined {
    return this.chainRecords(chain, 0, 1, "newest")[0];
  }

  /** Returns indexes of a chain's records at or above `from`, ascending: the first ones or the newest. */
  chainRecords(chain: string, from: number, limit: number, which: "first" | "newest"): number[] {
    const id = this.#findChain(chain);
    const pending = (this.#pending.chains.get(chain)?.places ?? []).filter((index) => index >= from);
    const { chainFirst, chainNewest } = this.#statements;
    if (which === "first") {
      const written = id === undefined ? [] : chainFirst.all(id, from, limit).map(indexOf);
      return written.concat(pending.slice(0, limit - written.length));
    }
    const newest = pending.slice(Math.max(0, pending.length - limit));
    const rest = limit - newest.length;
    const written = id === undefined || rest === 0 ? [] : chainNewest.all(id, from, rest).map(indexOf).reverse();
    return written.concat(newest);
  }

  findRequest(chain: string, requestId: string): number | undefined {
    const pending = this.#pending.chains.get(chain)?.requests.get(requestId);
    if (pending !== undefined) return pending;
    const id = this.#findChain(chain);
    return id === undefined ? undefined : numberOf(this.#statements.findRequest.get(id, requestId)?.["last"]);
  }

  findContent(digest: Uint8Array, chain: string | undefined): ContentHolding[] {
    const chains = chain === undefined ? this.#holders(digest) : [chain];
    const holdings = chains.flatMap((holder) => this.#chainHoldings(digest, holder)).slice(0, MAX_HOLDINGS);
    return holdings.sort((left, right) => left.recordIndex - right.recordIndex || left.item - right.item);
  }

  /** Returns holdings that refer to bytes in another record, and holdings of artifacts. */
  findReferences(digest: Uint8Array): ContentHolding[] {
    const written = this.#statements.findReferrers.all(digest, MAX_HOLDINGS).map((row) => String(row["chain"]));
    const chains = new Set([...written, ...this.#pending.findHolders(latin1(digest))]);
    const holdings = [...chains].flatMap((chain) => this.#chainHoldings(digest, chain));
    return holdings.filter(isReference).slice(0, MAX_HOLDINGS);
  }

  /** Removes rows that point at erased items, and returns the chains that may hold other copies. Flushes first. */
  dropErased(digests: readonly Uint8Array[]): string[] {
    const { begin, commit, findAll, itemsOf, dropHolding, dropLabels } = this.#statements;
    this.flush();
    this.#pending.forgetKnown();
    const chains = new Map<number, string>();
    begin.run();
    for (const digest of digests) {
      for (const row of findAll.all(digest)) {
        const items = scanSound(itemsOf.get(indexOf(row))?.["content"]);
        if (items[Number(row["item"])]?.digest === latin1(digest)) continue;
        const id = Number(row["id"]);
        dropHolding.run(digest, id, Number(row["role"]));
        dropLabels.run(digest, id);
        chains.set(id, String(row["chain"]));
      }
    }
    commit.run();
    return [...chains.values()];
  }

  /** Reads records of a chain again and indexes unerased items with these digests. Returns where to continue. */
  rescanChain(chain: string, from: number, limit: number, digests: ReadonlySet<string>): number | undefined {
    const { begin, commit, itemsOf, addHolding, addLabel } = this.#statements;
    const places = this.chainRecords(chain, from, limit, "first");
    const id = this.#findChain(chain);
    if (id === undefined) return undefined;
    begin.run();
    for (const index of places) {
      for (const [position, item] of scanSound(itemsOf.get(index)?.["content"]).entries()) {
        if (!digests.has(item.digest) || item.role === ROLE_REQUEST) continue;
        const digest = Buffer.from(item.digest, "latin1");
        addHolding.run(digest, id, item.role, index, position, item.place, item.size);
        for (const label of item.labels) addLabel.run(digest, id, label);
      }
    }
    commit.run();
    return places.length < limit ? undefined : (places.at(-1) ?? from) + 1;
  }

  #holders(digest: Uint8Array): string[] {
    const written = this.#statements.findHolders.all(digest, MAX_HOLDINGS).map((row) => String(row["chain"]));
    return [...new Set([...written, ...this.#pending.findHolders(latin1(digest))])].slice(0, MAX_HOLDINGS);
  }

  /**
   * Returns at most one holding per role. Each has the labels of all, because labels apply to content in every role.
   */
  #chainHoldings(digest: Uint8Array, chain: string): ContentHolding[] {
    const id = this.#findChain(chain);
    const { findHoldings, findLabels } = this.#statements;
    const labels = new Set(id === undefined ? [] : findLabels.all(digest, id).map((row) => String(row["label"])));
    for (const label of this.#pending.chains.get(chain)?.labels.get(latin1(digest)) ?? []) labels.add(label);
    const byRole = new Map<number, Omit<ContentHolding, "labels" | "chain">>();
    for (const row of id === undefined ? [] : findHoldings.all(digest, id)) {
      const role = Number(row["role"]);
      const place = Number(row["place"]);
      byRole.set(role, {
        recordIndex: indexOf(row),
        item: Number(row["item"]),
        role,
        place,
        size: Number(row["size"]),
      });
    }
    for (const { recordIndex, item, role, place, size } of this.#pending.findHoldings(latin1(digest), chain)) {
      const written = byRole.get(role);
      if (written === undefined || (hasBytes(place) && !hasBytes(written.place))) {
        byRole.set(role, { recordIndex, item, role, place, size });
      }
    }
    const joined = [...labels].sort();
    return [...byRole.values()].map((holding) => ({ chain, ...holding, labels: joined }));
  }

  #chainId(chain: string): number {
    const known = this.#findChain(chain);
    if (known !== undefined) return known;
    const id = Number(this.#statements.addChain.run(chain).lastInsertRowid);
    this.#chainIds.set(chain, id);
    return id;
  }

  #findChain(chain: string): number | undefined {
    const known = this.#chainIds.get(chain);
    if (known !== undefined) return known;
    const found = numberOf(this.#statements.findChain.get(chain)?.["id"]);
    if (found === undefined) return undefined;
    if (this.#chainIds.size >= MAX_CHAIN_IDS) this.#chainIds.clear();
    this.#chainIds.set(chain, found);
    return found;
  }
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(records: DatabaseSync, index: DatabaseSync) {
  const inIndex = (sql: string): StatementSync => index.prepare(sql);
  const bytesIn = (place: string): string => `${place} IN (${PLACE_ROW}, ${PLACE_FILE})`;
  return {
    // Rows as arrays: creating an object per record would take longer than reading it.
    readFrom: records.prepare(
      "SELECT idx, chain, request_id, content FROM records WHERE idx >= ? ORDER BY idx LIMIT ?",
      { returnArrays: true },
    ),
    getHash: records.prepare("SELECT hash FROM records WHERE idx = ?"),
    getLast: records.prepare("SELECT idx FROM records ORDER BY idx DESC LIMIT 1"),
    begin: inIndex("BEGIN IMMEDIATE"),
    commit: inIndex("COMMIT"),
    getMark: inIndex("SELECT next, hash FROM mark"),
    setMark: inIndex("INSERT OR REPLACE INTO mark VALUES (1, ?, ?)"),
    findChain: inIndex("SELECT id FROM chains WHERE chain = ?"),
    addChain: inIndex("INSERT INTO chains (chain) VALUES (?)"),
    addPlace: inIndex("INSERT OR IGNORE INTO places VALUES (?, ?)"),
    chainFirst: inIndex("SELECT idx FROM places WHERE chain = ? AND idx >= ? ORDER BY idx LIMIT ?"),
    chainNewest: inIndex("SELECT idx FROM places WHERE chain = ? AND idx >= ? ORDER BY idx DESC LIMIT ?"),
    addRequest: inIndex("INSERT INTO requests VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET last = excluded.last"),
    findRequest: inIndex("SELECT last FROM requests WHERE chain = ? AND request_id = ?"),
    addHolding: inIndex(`INSERT INTO holdings VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
      SET idx = excluded.idx, item = excluded.item, place = excluded.place, size = excluded.size
      WHERE ${bytesIn("excluded.place")} AND NOT ${bytesIn("place")}`),
    findHolders: inIndex(`SELECT c.chain FROM chains c JOIN
      (SELECT DISTINCT chain FROM holdings WHERE digest = ? ORDER BY chain LIMIT ?) h ON c.id = h.chain`),
    findReferrers: inIndex(`SELECT c.chain FROM chains c JOIN (SELECT DISTINCT chain FROM holdings
      WHERE digest = ? AND (place = ${PLACE_ELSEWHERE} OR role = ${ROLE_ARTIFACT}) LIMIT ?) h ON c.id = h.chain`),
    findAll: inIndex(
      "SELECT h.chain AS id, c.chain, role, idx, item FROM holdings h JOIN chains c ON c.id = h.chain WHERE digest = ?",
    ),
    itemsOf: records.prepare("SELECT content FROM records WHERE idx = ?"),
    dropHolding: inIndex("DELETE FROM holdings WHERE digest = ? AND chain = ? AND role = ?"),
    dropLabels: inIndex("DELETE FROM labels WHERE digest = ? AND chain = ?"),
    findHoldings: inIndex("SELECT role, idx, item, place, size FROM holdings WHERE digest = ? AND chain = ?"),
    addLabel: inIndex("INSERT OR IGNORE INTO labels VALUES (?, ?, ?)"),
    findLabels: inIndex("SELECT label FROM labels WHERE digest = ? AND chain = ?"),
  };
}

function isReference({ place, role }: ContentHolding): boolean {
  return place === PLACE_ELSEWHERE || role === ROLE_ARTIFACT;
}

/** Unreadable content counts as empty. */
function scanSound(content: SQLOutputValue | undefined): ScannedItem[] {
  try {
    return content instanceof Uint8Array ? scanRecordContent(content) : [];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function indexOf(row: { readonly [column: string]: SQLOutputValue }): number {
  return Number(row["idx"]);
}

function numberOf(value: SQLOutputValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
