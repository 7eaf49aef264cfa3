import {
  ContentPlace,
  ContentRole,
  equalBytes,
  fromBinary,
  fromHex,
  HASH_SIZE,
  KernelError,
  RecordContentSchema,
} from "@narthex/contracts";
import type { ContentHolding, ContentStore, Store } from "../ports.ts";
import type { ContentUses } from "../erasure/content-uses.ts";
import type { DescendantCheck } from "../session/descendant-check.ts";
import { copyBytes } from "./copy-bytes.ts";
import type { HeldContent } from "./held-content.ts";
import { readFileContent } from "./read-file-content.ts";

/** Content that the requester may read. */
export interface FoundContent {
  readonly digest: Uint8Array;
  readonly size: number;
  readonly labels: readonly string[];
  /** `held`: only the hash is stored; the bytes are in memory. */
  readonly place: "row" | "file" | "held";
  readonly recordIndex: number;
  readonly item: number;
}

/**
 * Reads content by hash. A session can name only content that it or a descendant put, received or was granted; for any
 * other hash it gets CONTENT_NOT_FOUND, whether or not the bytes exist. The labels are those of all these references.
 */
export interface ContentLibrary {
  find(sessionId: string, hash: string | Uint8Array): Promise<FoundContent>;
  /** For administrators: content of any session. */
  findAny(
    hash: Uint8Array,
  ): Promise<{ readonly content: FoundContent; readonly holders: ContentHolding[] } | undefined>;
  /** Reads at most 64 MB at once. A limit of 0 reads to the end. */
  read(content: FoundContent, offset: number, limit: number): Promise<Uint8Array>;
  stream(content: FoundContent, offset: number, limit: number): AsyncIterable<Uint8Array>;
}

/** Maximum number of holdings that a store returns; if it returns that many, there may be more. */
const MAX_HOLDINGS = 100;
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** Roles that let a session name the content again. */
const HOLDING_ROLES: ReadonlySet<number> = new Set([
  ContentRole.RESULT,
  ContentRole.PUT,
  ContentRole.GRANTED,
  ContentRole.ARTIFACT,
  ContentRole.INPUT,
  ContentRole.OUTPUT,
]);

export interface LibraryParts {
  readonly store: Store;
  readonly files: ContentStore;
  readonly held: HeldContent;
  readonly uses: ContentUses;
  readonly isDescendant: DescendantCheck;
}

export function createContentLibrary({ store, files, held, uses, isDescendant }: LibraryParts): ContentLibrary {
  async function holdingsFor(sessionId: string, digest: Uint8Array): Promise<ContentHolding[]> {
    const all = await store.findContent(digest);
    const own = all.length < MAX_HOLDINGS ? all.filter(isOwn) : await store.findContent(digest, sessionId);
    const held = own.filter(holds);
    const known = new Set(held.flatMap((holding) => holding.labels));
    for (const holding of all) {
      if (isOwn(holding) || !holds(holding)) continue;
      // A holding that adds no labels needs no lookup of its session.
      if (held.length > 0 && holding.labels.every((label) => known.has(label))) continue;
      if (await isDescendant(holding.chain, sessionId)) held.push(holding);
    }
    return held;

    function isOwn({ chain }: ContentHolding): boolean {
      return chain === sessionId;
    }
  }

  /** Finds content that is only in memory, with the same rules on which sessions may name it. */
  async function locateHeld(
    digest: Uint8Array,
    sessionId: string | undefined,
    holdings: readonly ContentHolding[],
  ): Promise<FoundContent | undefined> {
    const item = held.find(digest);
    if (item === undefined) return undefined;
    const labels = new Set(holdings.flatMap((holding) => holding.labels));
    let mayName = holdings.length > 0 || sessionId === undefined;
    for (const [holder, own] of item.holders) {
      if (sessionId !== undefined && holder !== sessionId && !(await isDescendant(holder, sessionId))) continue;
      mayName = true;
      for (const label of own) labels.add(label);
    }
    const size = item.bytes.length;
    return mayName ? { digest, size, labels: [...labels].sort(), place: "held", recordIndex: 0, item: 0 } : undefined;
  }

  async function locate(digest: Uint8Array, holdings: readonly ContentHolding[]): Promise<FoundContent | undefined> {
    const own = holdings.find(hasBytes);
    const bytes = own ?? (await store.findContent(digest)).find(hasBytes);
    if (bytes === undefined) return undefined;
    return {
      digest,
      size: bytes.size,
      labels: [...new Set(holdings.flatMap((holding) => holding.labels))].sort(),
      place: bytes.place === ContentPlace.ROW ? "row" : "file",
      recordIndex: bytes.recordIndex,
      item: bytes.item,
    };
  }

  async function readRow(content: FoundContent): Promise<Uint8Array> {
    const stored = await store.readRecord(content.recordIndex);
    const item = stored && fromBinary(RecordContentSchema, stored.content).items[content.item];
    if (item === undefined || !equalBytes(item.digest, content.digest)) {
      throw new KernelError("CONTENT_NOT_FOUND", "the content was erased");
    }
    return item.data;
  }

  function readHeld({ digest }: FoundContent): Uint8Array {
    const item = held.find(digest);
    if (item === undefined) throw new KernelError("CONTENT_NOT_FOUND", "the content is stored by its hash only");
    return item.bytes;
  }

  async function* stream(content: FoundContent, offset: number, limit: number): AsyncGenerator<Uint8Array> {
    if (!isCount(offset) || !isCount(limit))
      throw new KernelError("INVALID_INPUT", "offset and limit are whole numbers from 0 on");
    const left = Math.max(0, content.size - offset);
    const length = limit === 0 ? left : Math.min(limit, left);
    if (length === 0) return;
    if (content.place === "held") yield copyBytes(readHeld(content).subarray(offset, offset + length));
    else if (content.place === "row") yield copyBytes((await readRow(content)).subarray(offset, offset + length));
    else yield* readFileContent(files, content, offset, length);
  }

  return {
    async find(sessionId, hash) {
      const digest = typeof hash === "string" ? fromHex(hash) : hash;
      if (digest !== undefined) {
        await uses.whenFree(digest);
        // INVARIANT: noted before the lookup, so that the content is not erased between being found and being named.
        uses.note(digest);
      }
      if (digest?.length !== HASH_SIZE) throw notHeld();
      const holdings = await holdingsFor(sessionId, digest);
      const stored = holdings.length === 0 ? undefined : await locate(digest, holdings);
      const found = stored ?? (await locateHeld(digest, sessionId, holdings));
      if (found === undefined) throw notHeld();
      return found;
    },
    async findAny(hash) {
      const holders = await store.findContent(hash);
      const content = (await locate(hash, holders)) ?? (await locateHeld(hash, undefined, holders));
      return content === undefined ? undefined : { content, holders };
    },
    async read(content, offset, limit) {
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of stream(content, offset, limit)) {
        size += chunk.length;
        if (size > MAX_READ_BYTES)
          throw new KernelError("RESOURCE_EXCEEDED", "read at most 64 MB at once; use offset and limit");
        parts.push(copyBytes(chunk));
      }
      return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    },
    stream,
  };
}

function notHeld(): KernelError {
  return new KernelError("CONTENT_NOT_FOUND", "this session holds no content with that hash");
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function holds({ role }: ContentHolding): boolean {
  return HOLDING_ROLES.has(role);
}

function hasBytes(holding: ContentHolding): boolean {
  return holding.place === ContentPlace.ROW || holding.place === ContentPlace.FILE;
}
