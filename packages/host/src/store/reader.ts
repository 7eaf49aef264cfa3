import type { ReaderMethods } from "./reader-messages.ts";

type Method = keyof ReaderMethods;
export type MethodResult<M extends Method> = Awaited<ReturnType<ReaderMethods[M]>>;

/** Answers questions about what is stored. A program may end while nothing is being asked. */
export interface Reader {
  /** Rejects with STORE_UNAVAILABLE. */
  ask<M extends Method>(method: M, ...args: Parameters<ReaderMethods[M]>): Promise<MethodResult<M>>;
  /** For a store that could not be opened. */
  terminate(): Promise<void>;
}
