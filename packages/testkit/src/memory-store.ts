import {
  type ContentItem,
  ContentPlace,
  ContentRole,
  compileEncoder,
  fromBinary,
  KernelError,
  type RecordContent,
  RecordContentSchema,
  RecordSchema,
  toHex,
} from "@narthex/contracts";
import type {
  ChainHead,
  ContentHolding,
  ErasedItem,
  RecordQuery,
  StateChange,
  StateRow,
  StateTable,
  Store,
  StoredRecord,
  StoreHead,
  StoreWrite,
} from "@narthex/kernel";

/** A store in memory, with controls for tests of a slow or failing disk. */
export interface MemoryStore extends Store {
  /** Delays later appends: they become durable only when the returned function is called. */
  holdAppends(): () => void;
  /** Every append that is not durable yet, and every later one, rejects with this reason. */
  failWith(reason: string): void;
  /** Number of durable records. */
  readonly size: number;
}

interface Row extends StoredRecord {
  readonly requestId: string;
  readonly items: readonly ContentItem[];
}

interface PendingWrite {
  readonly row: Row;
  readonly state: readonly StateChange[];
  readonly erasures: readonly ErasedItem[];
  readonly done: PromiseWithResolvers<void>;
}

const MAX_HOLDINGS = 100;
const encodeContent = compileEncoder<RecordContent>(RecordContentSchema);

export function createMemoryStore(): MemoryStore {
  const rows: Row[] = [];
  const state = new Map<string, Uint8Array>();
  const waiting: PendingWrite[] = [];
  let accepted = 0;
  let holds = 0;
  let problem: string | undefined;

  function commitWaiting(): void {
    for (const { row, state: changes, erasures, done } of waiting.splice(0)) {
      rows.push(row);
      for (const erasure of erasures) erase(erasure);
      for (const change of changes) {
        if (change.value === undefined) state.delete(stateKey(change.table, change.key));
        else state.set(stateKey(change.table, change.key), change.value);
      }
      done.resolve();
    }
  }

  function erase({ recordIndex, item }: ErasedItem): void {
    const row = rows[recordIndex];
    const found = row?.items[item];
    if (row === undefined || found === undefined || found.place === ContentPlace.ERASED) {
      throw new RangeError("a content item to be erased is not there");
    }
    const { role, size, labels, digest } = found;
    const items = row.items.map((kept, at) =>
      at === item ? { role, size, labels, place: ContentPlace.ERASED } : kept,
    );
    const content = encodeContent({ items });
    rows[recordIndex] = { ...row, content, items: fromBinary(RecordContentSchema, content).items };
    state.set(stateKey("erasing", toHex(digest)), Uint8Array.of(1));
  }

  function breakWith(reason: string): void {
    problem ??= reason;
    for (const { done } of waiting.splice(0)) done.reject(unavailable(problem));
  }

  return {
    get size() {
      return rows.length;
    },

    holdAppends() {
      holds++;
      return () => {
        holds--;
        if (holds === 0 && problem === undefined) commitWaiting();
      };
    },

    failWith: breakWith,

    async append(write) {
      if (problem === undefined && write.index !== accepted) {
        breakWith(`record ${write.index} was appended where ${accepted} is due`);
      }
      if (problem === undefined && !isWellFormed(write))
        breakWith(`record ${write.index} has a name with a lone surrogate`);
      if (problem !== undefined) throw unavailable(problem);
      accepted++;
      const done = Promise.withResolvers<void>();
      const changes = write.state.map((change) => ({ ...change, value: change.value?.slice() }));
      waiting.push({ row: toRow(write), state: changes, erasures: write.erasures ?? [], done });
      if (holds === 0) queueMicrotask(commitWaiting);
      return done.promise;
    },

    async head(): Promise<StoreHead> {
      const last = rows.at(-1);
      return { nextIndex: rows.length, lastWallTimeMs: last === undefined ? 0 : wallTimeMs(last) };
    },

    async chainHead(chain): Promise<ChainHead | undefined> {
      const last = rows.findLast((row) => row.chain === chain);
      if (last === undefined) return undefined;
      return { sequence: last.sequence, hash: last.hash, logicalTimeMs: logicalTimeMs(last) };
    },

    async readRecord(index) {
      const row = rows[index];
      return row === undefined ? undefined : toStored(row);
    },

    async readRecords(query: RecordQuery) {
      const from = query.from ?? 0;
      const found = rows.filter((row) => row.index >= from && (query.chain === undefined || row.chain === query.chain));
      const limit = Math.max(0, query.limit);
      const chosen = query.newest === true ? found.slice(Math.max(0, found.length - limit)) : found.slice(0, limit);
      return chosen.map(toStored);
    },

    async findRequest(chain, requestId) {
      if (requestId === "") return undefined;
      return rows.findLast((row) => row.chain === chain && row.requestId === requestId)?.index;
    },

    async listRequestIds(chain, limit) {
      const ids = new Set<string>();
      for (const row of rows) {
        if (ids.size >= limit) break;
        if (row.chain === chain && row.requestId !== "") ids.add(row.requestId);
      }
      return [...ids];
    },

    async findContent(digest, chain) {
      return findHoldings(rows, toHex(digest), chain).slice(0, MAX_HOLDINGS);
    },

    async findReferences(digest) {
      const found = findHoldings(rows, toHex(digest), undefined);
      const isReference = ({ place, role }: ContentHolding): boolean =>
        place === ContentPlace.ELSEWHERE || role === ContentRole.ARTIFACT;
      return found.filter(isReference).slice(0, MAX_HOLDINGS);
    },

    async findMentions(needles, from) {
      const holds = ({ content }: Row): boolean =>
        needles.some((needle) => Buffer.from(content).includes(Buffer.from(needle)));
      const found = rows.filter((row) => row.index >= from && holds(row));
      return { records: found.map(({ index }) => index), next: undefined };
    },

    async forgetErased() {
      // Nothing to do: lookups scan the rows, so there is no index to clean up.
    },

    async endErasing(digests) {
      for (const digest of digests) state.delete(stateKey("erasing", toHex(digest)));
    },

    async getState(table, key) {
      return state.get(stateKey(table, key));
    },

    async listState(table, prefix, limit, after): Promise<StateRow[]> {
      const start = stateKey(table, "");
      const found: StateRow[] = [];
      for (const [key, value] of state) {
        if (key.startsWith(start + prefix)) found.push({ key: key.slice(start.length), value });
      }
      const compare = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));
      found.sort((left, right) => compare(left.key, right.key));
      const beyond = after === undefined ? found : found.filter(({ key }) => compare(key, after) > 0);
      return beyond.slice(0, Math.max(0, limit));
    },

    async close() {
      if (holds === 0 && problem === undefined) commitWaiting();
      breakWith("the store is closed");
    },
  };
}

function unavailable(reason: string): KernelError {
  return new KernelError("STORE_UNAVAILABLE", `the store takes no more records: ${reason}`);
}

function isWellFormed(write: StoreWrite): boolean {
  return [write.chain, write.requestId, ...write.state.map(({ key }) => key)].every((name) => name.isWellFormed());
}

function stateKey(table: StateTable, key: string): string {
  return `${table}:${key}`;
}

function toRow(write: StoreWrite): Row {
  const content = encodeContent({ items: write.content });
  return {
    index: write.index,
    chain: write.chain,
    sequence: write.sequence,
    requestId: write.requestId,
    hash: write.hash.slice(),
    record: write.record.slice(),
    content,
    items: fromBinary(RecordContentSchema, content).items,
  };
}

function toStored(row: Row): StoredRecord {
  return {
    index: row.index,
    chain: row.chain,
    sequence: row.sequence,
    hash: row.hash,
    record: row.record,
    content: row.content,
  };
}

function wallTimeMs(row: Row): number {
  return Number(fromBinary(RecordSchema, row.record).wallTimeMs);
}

function logicalTimeMs(row: Row): number {
  return Number(fromBinary(RecordSchema, row.record).logicalTimeMs);
}

/** One holding per chain and role, the first that has the bytes, with the labels of all holdings of the chain. */
function findHoldings(rows: readonly Row[], digest: string, chain: string | undefined): ContentHolding[] {
  const holdings = new Map<string, ContentHolding>();
  const labels = new Map<string, Set<string>>();
  for (const row of rows) {
    if (chain !== undefined && row.chain !== chain) continue;
    row.items.forEach((item, position) => {
      if (item.role === ContentRole.REQUEST || item.digest.length === 0 || toHex(item.digest) !== digest) return;
      const joined = labels.get(row.chain) ?? new Set();
      labels.set(row.chain, joined);
      for (const label of item.labels) joined.add(label);
      const key = `${row.chain} ${item.role}`;
      const known = holdings.get(key);
      if (known !== undefined && (hasBytes(known.place) || !hasBytes(item.place))) return;
      holdings.set(key, {
        chain: row.chain,
        recordIndex: row.index,
        item: position,
        role: item.role,
        place: item.place,
        size: Number(item.size),
        labels: [],
      });
    });
  }
  return [...holdings.values()]
    .map((holding) => ({ ...holding, labels: [...(labels.get(holding.chain) ?? [])].sort() }))
    .sort((left, right) => left.recordIndex - right.recordIndex || left.item - right.item);
}

function hasBytes(place: number): boolean {
  return place === ContentPlace.ROW || place === ContentPlace.FILE;
}
