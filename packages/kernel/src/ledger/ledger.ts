import { compileEncoder, hashRecord, KernelError, LOGICAL_EPOCH_MS, RecordSchema, type RecordMessage } from "@narthex/contracts";
import type { ChainHead, Clock, Store } from "../ports.ts";
import type { AppendedRecord, RecordDraft } from "./record-draft.ts";

/**
 * The append-only record of everything. Places, times and hashes are given synchronously, in the order of the calls;
 * a promise resolves once its record is durable.
 */
export interface Ledger {
  /** max(wall clock, last record's time): nothing expires backwards or revives. */
  nowMs(): number;
  append(draft: RecordDraft): Promise<AppendedRecord>;
  /** A chain must be known before it is appended to; a new one starts empty. */
  loadChain(chain: string): Promise<void>;
  forgetChain(chain: string): void;
  /** How many records are durable. */
  durableCount(): number;
  /** Resolves when more than `count` records are durable, or the signal aborts. */
  waitForMore(count: number, signal: AbortSignal): Promise<void>;
  /** Why nothing can be written any more, if so. */
  readonly failure: KernelError | undefined;
}

export interface LedgerParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Called once, when the store has failed: the kernel stops. */
  onFailure(failure: KernelError): void;
}

const FORMAT = 1;
const NO_HASH = new Uint8Array(0);
const encodeRecord = compileEncoder<RecordMessage>(RecordSchema);

export async function createLedger(parts: LedgerParts): Promise<Ledger> {
  const head = await parts.store.head();
  return new ChainedLedger(parts, head.nextIndex, head.lastWallTimeMs);
}

class ChainedLedger implements Ledger {
  failure: KernelError | undefined;
  readonly #parts: LedgerParts;
  readonly #chains = new Map<string, ChainHead>();
  #nextIndex: number;
  #lastWallTimeMs: number;
  #durable: number;
  #waiting: (() => void)[] = [];

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
    if (this.#chains.has(chain)) return;
    const head = await this.#parts.store.chainHead(chain);
    if (this.#chains.has(chain)) return;
    this.#chains.set(chain, head ?? { sequence: -1, hash: NO_HASH, logicalTimeMs: LOGICAL_EPOCH_MS });
  }

  forgetChain(chain: string): void {
    this.#chains.delete(chain);
  }

  append(draft: RecordDraft): Promise<AppendedRecord> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const head = this.#chains.get(draft.chain);
    if (head === undefined) return Promise.reject(new Error(`chain ${draft.chain} was not loaded`));
    const index = this.#nextIndex;
    const wallTimeMs = this.nowMs();
    const sequence = head.sequence + 1;
    const logicalTimeMs = Math.max(draft.logicalTimeMs ?? 0, head.logicalTimeMs);
    const requestId = draft.requestId ?? "";
    const record = encodeRecord({
      format: FORMAT,
      index,
      chain: draft.chain,
      sequence,
      logicalTimeMs,
      wallTimeMs,
      previousHash: head.hash,
      requestId,
      entries: draft.entries.map(asEntry),
    });
    const hash = hashRecord(record);
    // INVARIANT: from here to `append` nothing is awaited, so store order is index order is chain order.
    this.#nextIndex = index + 1;
    this.#lastWallTimeMs = wallTimeMs;
    this.#chains.set(draft.chain, { sequence, hash, logicalTimeMs });
    const appended = { index, hash, wallTimeMs };
    return this.#parts.store
      .append({
        index,
        chain: draft.chain,
        sequence,
        requestId,
        hash,
        record,
        content: draft.content ?? [],
        state: typeof draft.state === "function" ? draft.state(index) : (draft.state ?? []),
      })
      .then(
        () => {
          this.#becameDurable(index + 1);
          return appended;
        },
        (cause: unknown) => {
          throw this.#fail(cause);
        },
      );
  }

  durableCount(): number {
    return this.#durable;
  }

  waitForMore(count: number, signal: AbortSignal): Promise<void> {
    if (this.#durable > count || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener("abort", done);
        resolve();
      };
      signal.addEventListener("abort", done, { once: true });
      this.#waiting.push(done);
    });
  }

  #becameDurable(count: number): void {
    if (count > this.#durable) this.#durable = count;
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #fail(cause: unknown): KernelError {
    if (this.failure === undefined) {
      // SECURITY: a write that may or may not be on disk leaves the chain in doubt. It is never retried.
      this.failure = new KernelError("STORE_UNAVAILABLE", "the ledger cannot be written; the kernel has stopped", { cause });
      this.#parts.onFailure(this.failure);
    }
    return this.failure;
  }
}

function asEntry(kind: RecordDraft["entries"][number]): { readonly kind: RecordDraft["entries"][number] } {
  return { kind };
}
