import type { ChainHead, ContentHolding, Mentions, StateRow, StoredRecord, StoreHead } from "@narthex/kernel";
import type { TreeMethods } from "../merkle/tree-methods.ts";

/** Messages between the store and its reading thread. */

export interface ReaderData {
  readonly directory: string;
  /** Directory of the Merkle tree over the records. */
  readonly logDirectory: string;
}

/** Pages are limited in bytes, so that one long list delays neither other queries nor the kernel's own thread. */
export interface Page<T> {
  readonly rows: readonly T[];
  /** Whether there may be more rows. */
  readonly more: boolean;
}

/** Position of a record and the request it belongs to. Request ids may repeat. */
export interface RequestPosition {
  readonly index: number;
  /** Within its chain, without gaps from 0; -1 if the record is lost. */
  readonly sequence: number;
  readonly requestId: string;
}

export interface ReaderMethods extends TreeMethods {
  /** Must be called first, after the writer has created the files. */
  open(): void;
  head(): StoreHead;
  chainHead(chain: string): ChainHead | undefined;
  readRecord(index: number): StoredRecord | undefined;
  /** Returns the start of the newest `limit` records at or above `from`. */
  findNewest(from: number, limit: number, chain: string | undefined): number;
  readPage(from: number, limit: number, chain: string | undefined): Page<StoredRecord>;
  findRequest(chain: string, requestId: string): number | undefined;
  /** Returns all records of a chain in order. */
  requestPage(chain: string, from: number): Page<RequestPosition>;
  findContent(digest: Uint8Array, chain: string | undefined): ContentHolding[];
  findReferences(digest: Uint8Array): ContentHolding[];
  findMentions(needles: readonly Uint8Array[], from: number): Mentions;
  getState(table: number, key: string): Uint8Array | undefined;
  /** Returns keys at or after `from`. */
  statePage(table: number, prefix: string, from: string, limit: number): Page<StateRow>;
  /** Indexes new records; with `flush`, writes all of them. */
  advanceIndex(options: { readonly flush: boolean }): Promise<void>;
  /** Checkpoints the WAL as far as possible without waiting, and returns the WAL's size in bytes. */
  moveLog(): number;
  /** Removes erased items from the index. */
  forgetErased(digests: readonly Uint8Array[]): Promise<void>;
  /** Writes the index and empties its WAL; with `rewrite`, rewrites the whole file. */
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
