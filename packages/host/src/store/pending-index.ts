import { PLACE_FILE, PLACE_ROW, ROLE_REQUEST } from "./content-numbers.ts";
import type { ScannedItem } from "./record-content.ts";

/** A holding that is not yet written to the index. */
export interface PendingHolding {
  /** One character per byte. */
  readonly digest: string;
  readonly role: number;
  readonly recordIndex: number;
  readonly item: number;
  readonly place: number;
  readonly size: number;
}

/** Additions of the newest records to one chain's part of the index. */
export interface PendingChain {
  /** Indexes of records, ascending. */
  readonly places: number[];
  /** Newest record of each request id. */
  readonly requests: Map<string, number>;
  /** Keyed by digest and role. */
  readonly holdings: Map<string, PendingHolding>;
  /** Keyed by digest. */
  readonly labels: Map<string, Set<string>>;
}

/**
 * Maximum number of remembered holdings with bytes, so that content repeated by calls (proofs, equal inputs) is not
 * written again and again.
 */
const MAX_KNOWN = 50_000;
const LAST_ROLE = 16;

/**
 * Index entries of the newest records, in memory: small transactions on a tree with random keys cost several times as
 * much as large ones, so the index is written rarely and queries also read from here.
 */
export class PendingIndex {
  readonly chains = new Map<string, PendingChain>();
  readonly #known = new Map<string, Set<string>>();
  #knownSize = 0;
  #records = 0;

  /** Number of records it contains. */
  get records(): number {
    return this.#records;
  }

  add(index: number, chain: string, requestId: string, items: readonly ScannedItem[]): void {
    this.#records++;
    let pending = this.chains.get(chain);
    if (pending === undefined) {
      pending = { places: [], requests: new Map(), holdings: new Map(), labels: new Map() };
      this.chains.set(chain, pending);
    }
    pending.places.push(index);
    if (requestId !== "") pending.requests.set(requestId, index);
    for (let position = 0; position < items.length; position++) {
      const item = items[position];
      // A request digest has no bytes and is never queried; an erased item has no digest.
      if (item === undefined || item.role === ROLE_REQUEST || item.digest === "") continue;
      this.#addHolding(pending, chain, index, position, item);
      if (item.labels.length > 0) addLabels(pending, item);
    }
  }

  /** Returns a chain's pending holdings of a digest, at most one per role. */
  findHoldings(digest: string, chain: string): PendingHolding[] {
    const holdings = this.chains.get(chain)?.holdings;
    if (holdings === undefined) return [];
    const found: PendingHolding[] = [];
    for (let role = 0; role <= LAST_ROLE; role++) {
      const holding = holdings.get(holdingKey(digest, role));
      if (holding !== undefined) found.push(holding);
    }
    return found;
  }

  /** Returns the chains with pending holdings of a digest. Checks every pending chain. */
  findHolders(digest: string): string[] {
    return [...this.chains.keys()].filter((chain) => this.findHoldings(digest, chain).length > 0);
  }

  /** Clears entries that were written to the index. */
  clear(): void {
    this.chains.clear();
    this.#records = 0;
  }

  /** Forgets the remembered holdings, because rows may have been removed from the index. */
  forgetKnown(): void {
    this.#known.clear();
    this.#knownSize = 0;
  }

  #addHolding(
    pending: PendingChain,
    chain: string,
    recordIndex: number,
    position: number,
    { digest, role, place, size }: ScannedItem,
  ): void {
    const key = holdingKey(digest, role);
    const known = this.#known.get(chain);
    if (known?.has(key) === true) return;
    if (hasBytes(place)) this.#remember(chain, known, key);
    else if (pending.holdings.has(key)) return;
    pending.holdings.set(key, { digest, role, recordIndex, item: position, place, size });
  }

  #remember(chain: string, known: Set<string> | undefined, key: string): void {
    if (this.#knownSize >= MAX_KNOWN) this.forgetKnown();
    this.#knownSize++;
    if (known !== undefined && this.#knownSize > 1) known.add(key);
    else this.#known.set(chain, new Set([key]));
  }
}

/** Holdings with bytes take precedence over those that only refer to them. */
export function hasBytes(place: number): boolean {
  return place === PLACE_ROW || place === PLACE_FILE;
}

function addLabels(pending: PendingChain, item: ScannedItem): void {
  const known = pending.labels.get(item.digest);
  if (known === undefined) pending.labels.set(item.digest, new Set(item.labels));
  else for (const label of item.labels) known.add(label);
}

function holdingKey(digest: string, role: number): string {
  return digest + String.fromCharCode(role);
}
