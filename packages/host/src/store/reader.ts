import type { ReaderMethods } from "./reader-messages.ts";

type Method = keyof ReaderMethods;
export type MethodResult<M extends Method> = Awaited<ReturnType<ReaderMethods[M]>>;

/** Queries stored data. A program may exit while no query is pending. */
export interface Reader {
  /** Rejects with STORE_UNAVAILABLE. */
  ask<M extends Method>(method: M, ...args: Parameters<ReaderMethods[M]>): Promise<MethodResult<M>>;
  /** Use it for a store that could not be opened. */
  terminate(): Promise<void>;
}
