import type { DoneReply, PreparedReply, WorkerReply } from "./messages.ts";

/** A prepared operation with the entries it holds open. It supports only the methods that are present. */
export interface Ticket {
  readonly prepared: PreparedReply;
  /** Sent with `prepared`. */
  readonly payload: Buffer;
  pull?(item: number, offset: number, length: number): Buffer;
  entries?(from: number): { readonly reply: WorkerReply; readonly payload: Buffer };
  content?(piece: Buffer): void;
  commit?(payload: Buffer): DoneReply | Promise<DoneReply>;
  /** Releases everything, including what an unfinished commit created. */
  close(): void;
}

/** Files up to this size are sent with the response to `prepare`, so that most operations need no further request. */
export const INLINE_BYTES = 64 * 1024;
export const NOTHING = Buffer.alloc(0);
