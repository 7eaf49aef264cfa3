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
 * The append-only record of everything. Places, times and hashes are given synchronously, in the order of the calls;
 * a promise resolves once its record is durable.
 */
export interface Ledger {
  /** max(wall clock, last record's time): nothing expires backwards or revives. */
  nowMs(): number;
  /** To a chain that was not loaded it takes a read of the store first, and the place in line is taken after it. */
  append(draft: RecordDraft): Promise<AppendedRecord>;
  /** A record to be written just before the first one of this run, and not at all if there is none. */
  prefaceWith(draft: RecordDraft): void;
  /** Writes the preface now, unless it is written. */
  writePreface(): Promise<void>;
  /** Keeps a chain at hand until it is forgotten; a new one starts empty. */
  loadChain(chain: string): Promise<void>;
  /** Costs no more memory once all of it is durable. */
  forgetChain(chain: string): void;
  /** How many records are durable. */
  durableCount(): number;
  /** No record of the chain has a higher index than this, durable or on its way; undefined for one that is not at hand. */
  lastIndexOf(chain: string): number | undefined;
  /** Resolves when more than `count` records are durable, the signal aborts, or no more will come. */
  waitForMore(count: number, signal: AbortSignal): Promise<void>;
  /** Why nothing can be written any more, if so. */
  readonly failure: KernelError | undefined;
  /** Takes no more records. */
  close(): void;
}

export interface LedgerParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Nothing of these is written. */
  readonly secrets?: KnownSecrets;
  /** Called once, when the store has failed: the kernel stops. */
  onFailure(failure: KernelError): void;
}

interface Head extends ChainHead {
  /** Of the chain's last record; of one that was read back, the last of all records then. */
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
  /** Loaded on request, and to be kept until forgotten. */
  readonly #kept = new Set<string>();
  /** To be dropped as soon as their last record is durable, unless they are loaded again. */
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

  // Not waiting for anything before it has a place: what is appended first comes first.
  append(draft: RecordDraft): Promise<AppendedRecord> {
    try {
      return this.#append(draft);
    } catch (fault) {
      return Promise.reject(fault);
    }
  }

  #append(draft: RecordDraft): Promise<AppendedRecord> {
    if (this.failure !== undefined) throw this.failure;
    // It takes its place in line at once; should it fail, so does everything after it.
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
      // SECURITY: the last line: whatever came so far with a secret in it is written without.
      if (secrets.isIn(record)) record = encode(guardEntries(draft.entries, secrets));
      content = guardItems(content, secrets);
      state = guardState(state, secrets);
    }
    const hash = hashRecord(record);
    // INVARIANT: from here to the store's `append` nothing is awaited and nothing throws, so store order is index
    // order is chain order.
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

  /** A late record of a session that has ended. */
  async #appendToOther(draft: RecordDraft): Promise<AppendedRecord> {
    await this.#load(draft.chain);
    this.#leaving.add(draft.chain);
    return this.append(draft);
  }

  /** One reading at a time for a chain: an older one that comes late would bring back an older head. */
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
   * INVARIANT: the store does not know the head of a chain with records on their way: read back then, two records
   * would take one place. So a chain is dropped only when all of it is durable.
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
    // SECURITY: a write that may or may not be on disk leaves the chain in doubt. It is never retried.
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
