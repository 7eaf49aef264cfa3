import type { ChainHead, ContentHolding, Mentions, StateRow, StoredRecord, StoreHead } from "@narthex/kernel";
import type { TreeMethods } from "../merkle/tree-methods.ts";

/** What the store asks of its reading thread. */

export interface ReaderData {
  readonly directory: string;
  /** Where the Merkle log of the records lies. */
  readonly logDirectory: string;
}

/** Pages are bounded in bytes, so that one long list delays neither other readers nor the kernel's own thread. */
export interface Page<T> {
  readonly rows: readonly T[];
  /** There may be more. */
  readonly more: boolean;
}

/** What a record answers for. Request ids may repeat. */
export interface RequestPosition {
  readonly index: number;
  /** Within its chain, without gaps from 0; -1 if the record is lost. */
  readonly sequence: number;
  readonly requestId: string;
}

export interface ReaderMethods extends TreeMethods {
  /** Comes first, once the writer has made the files. */
  open(): void;
  head(): StoreHead;
  chainHead(chain: string): ChainHead | undefined;
  readRecord(index: number): StoredRecord | undefined;
  /** Where the newest `limit` records at or above `from` begin. */
  findNewest(from: number, limit: number, chain: string | undefined): number;
  readPage(from: number, limit: number, chain: string | undefined): Page<StoredRecord>;
  findRequest(chain: string, requestId: string): number | undefined;
  /** Of every record of a chain, in their order. */
  requestPage(chain: string, from: number): Page<RequestPosition>;
  findContent(digest: Uint8Array, chain: string | undefined): ContentHolding[];
  findReferences(digest: Uint8Array): ContentHolding[];
  findMentions(needles: readonly Uint8Array[], from: number): Mentions;
  getState(table: number, key: string): Uint8Array | undefined;
  /** Keys from `from` on. */
  statePage(table: number, prefix: string, from: string, limit: number): Page<StateRow>;
  /** Indexes what is new; with `flush`, writes all of it. */
  advanceIndex(options: { readonly flush: boolean }): Promise<void>;
  /** Moves the log into the file as far as it goes without waiting, and answers the log's length. */
  moveLog(): number;
  /** Takes what was erased out of the index. */
  forgetErased(digests: readonly Uint8Array[]): Promise<void>;
  /** Writes the index and empties its log; with `rewrite`, the whole file is written anew. */
  scrubIndex(options: { readonly rewrite: boolean }): void;
  close(): void;
}

export interface ReaderCall {
  readonly id: number;
  readonly method: keyof ReaderMethods;
  readonly args: readonly unknown[];
}

export type ReaderResponse =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly reason: string };
