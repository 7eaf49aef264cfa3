import {
  blake3,
  type ContentItem,
  ContentPlace,
  ContentRole,
  commitTo,
  compileEncoder,
  type Entry,
  hashRecord,
  LOGICAL_EPOCH_MS,
  type Plain,
  type RecordContent,
  RecordContentSchema,
  type RecordMessage,
  RecordSchema,
  toHex,
  utf8,
} from "@narthex/contracts";
import type { LedgerRow, LedgerSource } from "../ledger-source.ts";

export type EntryPlain = NonNullable<Plain<Entry>["kind"]>;
export type ItemPlain = Plain<ContentItem>;

export interface RecordPlan {
  readonly chain: string;
  readonly requestId?: string;
  readonly entries: readonly EntryPlain[];
  readonly items?: readonly ItemPlain[];
  readonly logicalTimeMs?: number;
  readonly wallTimeMs?: number;
  /** Fields to write into the record instead of the correct ones. */
  readonly instead?: Plain<RecordMessage>;
}

/** Content, and the commitment that binds it to a record. */
export interface Committed {
  readonly item: ItemPlain;
  readonly commitment: Uint8Array;
}

const encodeRecord = compileEncoder<RecordMessage>(RecordSchema);
const encodeContent = compileEncoder<RecordContent>(RecordContentSchema);
const FIRST_WALL_TIME_MS = 1_789_000_000_000;

/**
 * Writes ledgers as docs/formats/ledger.md specifies. Nonces come from a counter, so the same steps give the same
 * bytes.
 */
export class LedgerBuilder implements LedgerSource {
  rows: LedgerRow[] = [];
  readonly files = new Map<string, Uint8Array>();
  readonly #seed: string;
  readonly #chains = new Map<string, { sequence: number; hash: Uint8Array; logicalTimeMs: number }>();
  #nonces = 0;

  constructor(seed = "ledger") {
    this.#seed = seed;
  }

  /** A copy with the same rows and files that can be changed independently. */
  copy(): LedgerBuilder {
    const copy = new LedgerBuilder(this.#seed);
    copy.rows = [...this.rows];
    for (const [name, bytes] of this.files) copy.files.set(name, bytes);
    for (const [chain, head] of this.#chains) copy.#chains.set(chain, head);
    copy.#nonces = this.#nonces;
    return copy;
  }

  append(plan: RecordPlan): LedgerRow {
    const head = this.#chains.get(plan.chain);
    const index = this.rows.length;
    const sequence = head === undefined ? 0 : head.sequence + 1;
    const logicalTimeMs = plan.logicalTimeMs ?? head?.logicalTimeMs ?? LOGICAL_EPOCH_MS;
    const record = encodeRecord({
      format: 1,
      index,
      chain: plan.chain,
      sequence,
      logicalTimeMs,
      wallTimeMs: plan.wallTimeMs ?? FIRST_WALL_TIME_MS + index * 250,
      previousHash: head?.hash ?? new Uint8Array(0),
      requestId: plan.requestId ?? "",
      entries: plan.entries.map((kind) => ({ kind })),
      ...plan.instead,
    });
    const hash = hashRecord(record);
    this.#chains.set(plan.chain, { sequence, hash, logicalTimeMs });
    const row = {
      index,
      chain: plan.chain,
      sequence: Number(plan.instead?.sequence ?? sequence),
      hash,
      record,
      content: encodeContent({ items: plan.items ?? [] }),
    };
    this.rows.push(row);
    return row;
  }

  /** Commits to content stored in the row. */
  commit(role: ContentRole, bytes: Uint8Array | string, labels: readonly string[] = []): Committed {
    const data = typeof bytes === "string" ? utf8(bytes) : bytes;
    return this.#commit({ role, digest: blake3(data), size: data.length, place: ContentPlace.ROW, data, labels });
  }

  /** Commits to content stored in its own file. */
  commitFile(role: ContentRole, bytes: Uint8Array, labels: readonly string[] = []): Committed {
    const digest = blake3(bytes);
    this.files.set(toHex(digest), bytes);
    return this.#commit({ role, digest, size: bytes.length, place: ContentPlace.FILE, labels });
  }

  /** Commits to content stored with another record. */
  commitElsewhere(role: ContentRole, bytes: Uint8Array, labels: readonly string[] = []): Committed {
    return this.#commit({ role, digest: blake3(bytes), size: bytes.length, place: ContentPlace.ELSEWHERE, labels });
  }

  commitRequest(digest: Uint8Array): Committed {
    return this.#commit({ role: ContentRole.REQUEST, digest, place: ContentPlace.NONE });
  }

  async recordCount(): Promise<number> {
    return this.rows.length;
  }

  async *records(from = 0): AsyncGenerator<LedgerRow> {
    yield* from === 0 ? this.rows : this.rows.filter(({ index }) => index >= from);
  }

  async readFile(digest: Uint8Array): Promise<AsyncIterable<Uint8Array> | undefined> {
    const bytes = this.files.get(toHex(digest));
    return bytes === undefined ? undefined : inPieces(bytes);
  }

  #commit(item: ItemPlain & { readonly digest: Uint8Array }): Committed {
    const nonce = blake3(utf8(`${this.#seed} nonce ${this.#nonces++}`));
    return { item: { ...item, nonce }, commitment: commitTo(item.digest, nonce) };
  }
}

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
}
