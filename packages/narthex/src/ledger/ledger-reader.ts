import { KernelError } from "@narthex/contracts";
import { checkOptions, type Kernel, type OptionKinds } from "@narthex/kernel";
import type { PendingCalls } from "./decode-record.ts";
import type { DecodedRecord } from "./decoded-record.ts";

/** Reads the ledger's records in plain values. Cannot change anything. */
export interface LedgerReader {
  /** Returns a page of records, oldest first: the newest ones, or those from an index on. */
  list(query?: LedgerQuery): Promise<LedgerPage>;
  /** Returns a record by its index, or the newest one of a call; undefined if it does not exist. */
  get(which: number | RecordedRequest): Promise<DecodedRecord | undefined>;
  /**
   * Yields records from an index on (new ones only by default), then each new one once it is durable, until the signal
   * aborts.
   */
  follow(following: FollowOptions): AsyncIterable<DecodedRecord>;
}

export interface LedgerQuery {
  /** Index to start at; without it, the newest records. */
  readonly from?: number;
  /** From 1 to 1000; 100 by default. */
  readonly limit?: number;
  /** Only this session's records; `system` for records about no session. */
  readonly session?: string;
}

export interface LedgerPage {
  readonly records: readonly DecodedRecord[];
  /** Index at which the next page starts; undefined if there are no more records. */
  readonly next: number | undefined;
}

export interface RecordedRequest {
  readonly session: string;
  readonly requestId: string;
}

export interface FollowOptions {
  readonly from?: number;
  readonly session?: string;
  readonly signal: AbortSignal;
}

type LedgerKernel = Pick<Kernel, "listRecords" | "readRecord" | "findCall" | "tailRecords" | "recordCount">;

const QUERY: OptionKinds<LedgerQuery> = { from: "amount?", limit: "amount?", session: "text?" };
const REQUEST: OptionKinds<RecordedRequest> = { session: "text", requestId: "text" };
const FOLLOW_OPTIONS: OptionKinds<FollowOptions> = { from: "amount?", session: "text?", signal: "signal" };
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
/** Number of records before a page that are searched for the start of a call that ends on it. */
const LOOKBACK_RECORDS = 256;

export function createLedgerReader(kernel: LedgerKernel): LedgerReader {
  async function decodePage(stored: Awaited<ReturnType<LedgerKernel["listRecords"]>>): Promise<DecodedRecord[]> {
    // Loaded on first use: most programs never read a record.
    const { decodeRecord, isMissingCallStart } = await import("./decode-record.ts");
    const earlier: PendingCalls = new Map();
    const decoded = stored.map((record) => decodeRecord(record, earlier));
    const [first] = stored;
    if (first === undefined || !decoded.some(isMissingCallStart)) return decoded;
    const fromIndex = Math.max(0, first.index - LOOKBACK_RECORDS);
    earlier.clear();
    const before = await kernel.listRecords({ fromIndex, limit: first.index - fromIndex });
    for (const record of before) if (record.index < first.index) decodeRecord(record, earlier);
    return stored.map((record) => decodeRecord(record, earlier));
  }

  return {
    async list(query = {}) {
      checkOptions(query, QUERY, "a query of the ledger");
      const { from, limit = DEFAULT_LIMIT, session } = query;
      if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
        throw new KernelError("INVALID_INPUT", `\`limit\` must be a whole number from 1 to ${MAX_LIMIT}`);
      }
      const stored = await kernel.listRecords({
        limit,
        ...(from === undefined ? { newest: true } : { fromIndex: from }),
        ...(session !== undefined && { chain: session }),
      });
      const last = stored.at(-1);
      const next = from !== undefined && last !== undefined && stored.length === limit ? last.index + 1 : undefined;
      return { records: await decodePage(stored), next };
    },
    async get(which) {
      if (typeof which !== "number") checkOptions(which, REQUEST, "a reference to a call");
      else checkOptions({ index: which }, { index: "amount" }, "a reference to a record");
      const stored =
        typeof which === "number"
          ? await kernel.readRecord(which)
          : await kernel.findCall(which.session, which.requestId);
      return stored === undefined ? undefined : (await decodePage([stored]))[0];
    },
    async *follow(following) {
      checkOptions(following, FOLLOW_OPTIONS, "following the ledger");
      const { from, session, signal } = following;
      // Read before the first `await`, so that following starts at the time of the call.
      const fromIndex = from ?? kernel.recordCount();
      const { decodeRecord } = await import("./decode-record.ts");
      const earlier: PendingCalls = new Map();
      const tail = { signal, fromIndex, ...(session !== undefined && { chain: session }) };
      for await (const stored of kernel.tailRecords(tail)) yield decodeRecord(stored, earlier);
    },
  };
}
