import {
  compileSharedEncoder,
  hashRecord,
  KernelError,
  LOGICAL_EPOCH_MS,
  RecordSchema,
  type RecordMessage,
} from "@narthex/contracts";
import type { ChainHead, Clock, Store, StoreWrite } from "../ports.ts";
import { guardEntries, guardItems, guardState } from "../secret/guarded-draft.ts";
import type { KnownSecrets } from "../secret/known-secrets.ts";
import type { AppendedRecord, RecordDraft } from "./record-draft.ts";

/**
 * The append-only record of everything. Indexes, times and hashes are assigned synchronously, in the order of the
 * calls; a promise resolves once its record is durable.
 */
export interface Ledger {
  /**
   * The later of the wall clock and the last record's time, so that a clock set back never makes an expired lease or
   * session valid again.
   */
  nowMs(): number;
  /**
   * Appends a record. If the chain is not loaded, the store is read first, and the record gets its index only after
   * that.
   */
  append(draft: RecordDraft): Promise<AppendedRecord>;
  /** Sets a record to be written just before the first one of this run; it is not written if none exists. */
  prefaceWith(draft: RecordDraft): void;
  /** Writes the preface now, unless it is already written. */
  writePreface(): Promise<void>;
  /** Keeps a chain's head in memory until the chain is forgotten; a new chain starts empty. */
  loadChain(chain: string): Promise<void>;
  /** Frees the chain's memory once all of its records are durable. */
  forgetChain(chain: string): void;
  /** Number of durable records. */
  durableCount(): number;
  /**
   * An upper bound of the indexes of the chain's records, durable or pending; undefined if the chain is not in memory.
   */
  lastIndexOf(chain: string): number | undefined;
  /** Resolves when more than `count` records are durable, the signal aborts, or no more records will be written. */
  waitForMore(count: number, signal: AbortSignal): Promise<void>;
  /** Why records can no longer be written; undefined while they can. */
  readonly failure: KernelError | undefined;
  /** Accepts no more records. */
  close(): void;
}

export interface LedgerParts {
  readonly store: Store;
  readonly clock: Clock;
  /** These secrets are removed from everything that is written. */
  readonly secrets?: KnownSecrets;
  /** Called once, when the store has failed: the kernel stops. */
  onFailure(failure: KernelError): void;
}

interface Head extends ChainHead {
  /**
   * Index of the chain's last record; for a head that was read from the store, the index of the ledger's last record at
   * that time.
   */
  readonly lastIndex: number;
}

const FORMAT = 1;
const NO_HASH = new Uint8Array(0);
const EMPTY: ChainHead = { sequence: -1, hash: NO_HASH, logicalTimeMs: LOGICAL_EPOCH_MS };
const encodeRecord = compileSharedEncoder<RecordMessage>(RecordSchema);

export async function createLedger(parts: LedgerParts): Promise<Ledger> {
  const head = await parts.store.head();
  return new ChainedLedger(parts, head.nextIndex, head.lastWallTimeMs);
}

class ChainedLedger implements Ledger {
  failure: KernelError | undefined;
  readonly #parts: LedgerParts;
  readonly #chains = new Map<string, Head>();
  /** Chains that were loaded explicitly and are kept until forgotten. */
  readonly #kept = new Set<string>();
  /** Chains to drop as soon as their last record is durable, unless they are loaded again. */
  readonly #leaving = new Set<string>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #waiting = new Set<() => void>();
  #preface: RecordDraft | undefined;
  #nextIndex: number;
  #lastWallTimeMs: number;
  #durable: number;

  constructor(parts: LedgerParts, nextIndex: number, lastWallTimeMs: number) {
    this.#parts = parts;
    this.#nextIndex = nextIndex;
    this.#durable = nextIndex;
    this.#lastWallTimeMs = lastWallTimeMs;
  }

  nowMs(): number {
    return Math.max(this.#parts.clock.nowMs(), this.#lastWallTimeMs);
  }

  async loadChain(chain: string): Promise<void> {
    this.#kept.add(chain);
    await this.#load(chain);
  }

  forgetChain(chain: string): void {
    this.#kept.delete(chain);
    this.#leaving.add(chain);
    this.#dropLeaving();
  }

  // Not `async`: the record gets its index before anything is awaited, so records are ordered as they are appended.
  append(draft: RecordDraft): Promise<AppendedRecord> {
    try {
      return this.#append(draft);
    } catch (fault) {
      return Promise.reject(fault);
    }
  }

  #append(draft: RecordDraft): Promise<AppendedRecord> {
    if (this.failure !== undefined) throw this.failure;
    // The preface gets its index synchronously; if writing it fails, every later write fails too.
    if (this.#preface !== undefined) this.writePreface().catch(() => undefined);
    const head = this.#chains.get(draft.chain);
    if (head === undefined) return this.#appendToOther(draft);
    const index = this.#nextIndex;
    const wallTimeMs = this.nowMs();
    const sequence = head.sequence + 1;
    const logicalTimeMs = Math.max(draft.logicalTimeMs ?? 0, head.logicalTimeMs);
    const requestId = draft.requestId ?? "";
    const place = { format: FORMAT, index, chain: draft.chain, sequence, logicalTimeMs, wallTimeMs, requestId };
    const encode = (entries: RecordDraft["entries"]): Uint8Array =>
      encodeRecord({ ...place, previousHash: head.hash, entries: entries.map(asEntry) });
    let record = encode(draft.entries);
    let content = draft.content ?? [];
    let state = typeof draft.state === "function" ? draft.state(index) : (draft.state ?? []);
    const { secrets } = this.#parts;
    if (secrets !== undefined && secrets.all.length > 0) {
      // SECURITY: the last line of defence: any secret that reached this point is removed before the record is written.
      if (secrets.isIn(record)) record = encode(guardEntries(draft.entries, secrets));
      content = guardItems(content, secrets);
      state = guardState(state, secrets);
    }
    const hash = hashRecord(record);
    // INVARIANT: from here to the store's `append` nothing is awaited and nothing throws, so the order in the store
    // equals the order of indexes and of the chain.
    this.#nextIndex = index + 1;
    this.#lastWallTimeMs = wallTimeMs;
    this.#chains.set(draft.chain, { sequence, hash, logicalTimeMs, lastIndex: index });
    return this.#store(
      {
        index,
        chain: draft.chain,
        sequence,
        requestId: draft.foundById === false ? "" : requestId,
        hash,
        record,
        content,
        state,
        erasures: draft.erasures,
      },
      { index, hash, wallTimeMs },
    );
  }

  prefaceWith(draft: RecordDraft): void {
    this.#preface = draft;
  }

  async writePreface(): Promise<void> {
    const preface = this.#preface;
    this.#preface = undefined;
    if (preface !== undefined) await this.append(preface);
  }

  durableCount(): number {
    return this.#durable;
  }

  lastIndexOf(chain: string): number | undefined {
    return this.#chains.get(chain)?.lastIndex;
  }

  waitForMore(count: number, signal: AbortSignal): Promise<void> {
    if (this.#durable > count || signal.aborted || this.failure !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      signal.addEventListener("abort", done, { once: true });
      this.#waiting.add(done);
    });
  }

  close(): void {
    this.failure ??= new KernelError("STORE_UNAVAILABLE", "the kernel is closed");
    this.#wake();
  }

  /** Appends to a chain that is not in memory, such as a late record of an ended session. */
  async #appendToOther(draft: RecordDraft): Promise<AppendedRecord> {
    await this.#load(draft.chain);
    this.#leaving.add(draft.chain);
    return this.append(draft);
  }

  /** One read at a time per chain: a slower earlier read would bring back an outdated head. */
  async #load(chain: string): Promise<void> {
    if (this.#chains.has(chain)) return;
    const loading = this.#loading.get(chain) ?? this.#readHead(chain);
    this.#loading.set(chain, loading);
    await loading;
  }

  async #readHead(chain: string): Promise<void> {
    try {
      const head = await this.#parts.store.chainHead(chain);
      this.#chains.set(chain, { ...(head ?? EMPTY), lastIndex: this.#nextIndex - 1 });
    } finally {
      this.#loading.delete(chain);
    }
  }

  #store(write: StoreWrite, appended: AppendedRecord): Promise<AppendedRecord> {
    return this.#handOver(write).then(
      () => {
        if (appended.index >= this.#durable) this.#durable = appended.index + 1;
        if (this.#leaving.size > 0) this.#dropLeaving();
        this.#wake();
        return appended;
      },
      (cause: unknown) => {
        throw this.#fail(cause);
      },
    );
  }

  #handOver(write: StoreWrite): Promise<void> {
    try {
      return this.#parts.store.append(write);
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  /**
   * INVARIANT: the store does not know the head of a chain with pending records. If it were read then, two records
   * would get the same place. So a chain is dropped only when all of its records are durable.
   */
  #dropLeaving(): void {
    for (const chain of this.#leaving) {
      const isKept = this.#kept.has(chain);
      if (!isKept && (this.#chains.get(chain)?.lastIndex ?? -1) >= this.#durable) continue;
      this.#leaving.delete(chain);
      if (!isKept) this.#chains.delete(chain);
    }
  }

  #wake(): void {
    if (this.#waiting.size === 0) return;
    for (const wake of this.#waiting) wake();
  }

  #fail(cause: unknown): KernelError {
    if (this.failure !== undefined) return this.failure;
    // SECURITY: after a write that may or may not be on disk, the state of the chain is uncertain. The write is never
    // retried.
    this.failure = new KernelError("STORE_UNAVAILABLE", "the ledger cannot be written; the kernel has stopped", {
      cause,
    });
    this.#wake();
    this.#parts.onFailure(this.failure);
    return this.failure;
  }
}

function asEntry(kind: RecordDraft["entries"][number]): { readonly kind: RecordDraft["entries"][number] } {
  return { kind };
}
