import type { DoneReply, PreparedReply, WorkerReply } from "./messages.ts";

/** An operation that was prepared, with what it holds open. What is not there, the operation does not know. */
export interface Ticket {
  readonly prepared: PreparedReply;
  /** Goes with `prepared`. */
  readonly payload: Buffer;
  pull?(item: number, offset: number, length: number): Buffer;
  entries?(from: number): { readonly reply: WorkerReply; readonly payload: Buffer };
  content?(piece: Buffer): void;
  commit?(payload: Buffer): DoneReply | Promise<DoneReply>;
  /** Lets go of everything, and of what a commit has not finished. */
  close(): void;
}

/** A file up to here travels with the answer to `prepare`, so that most operations need no other question. */
export const INLINE_BYTES = 64 * 1024;
export const NOTHING = Buffer.alloc(0);
