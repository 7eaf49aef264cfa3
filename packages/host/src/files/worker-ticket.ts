import { KernelError } from "@narthex/contracts";
import type { FileOperation } from "@narthex/kernel";
import { explainFault } from "./explain-fault.ts";
import type { WorkerResponse } from "./file-worker.ts";
import { type BorrowedWorker, raceWithSignal, verifyNotAborted } from "./worker-pool.ts";
import type { WorkerReply, WorkerRequest } from "./worker/messages.ts";

/** How long a worker may take to finish a cancelled request before it is considered hung. */
const PATIENCE_MS = 5000;
/** Longer for a commit, which should complete even on a slow disk. */
const COMMIT_PATIENCE_MS = 30_000;

type Reply<Type extends WorkerReply["type"]> = WorkerReply & { readonly type: Type };

/** The messages with a worker for one operation. */
export class WorkerTicket {
  readonly operation: FileOperation;
  readonly #borrowed: BorrowedWorker;
  readonly #id: number;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.close();
  #unanswered = 0;
  #isCommitting = false;

  #isClosed = false;
  #hangTimer: NodeJS.Timeout | undefined;

  constructor(borrowed: BorrowedWorker, operation: FileOperation, signal: AbortSignal) {
    this.operation = operation;
    this.#borrowed = borrowed;
    this.#id = borrowed.worker.createId();
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Whether the commit was sent: from then on, only the worker's response tells whether the change was made. */
  get isCommitting(): boolean {
    return this.#isCommitting;
  }

  /** Throws the error that the worker reports, and CANCELLED as soon as the signal aborts. */
  async ask<Type extends WorkerReply["type"]>(
    expected: Type,
    request: WorkerRequest,
    payload?: Uint8Array,
  ): Promise<{ reply: Reply<Type>; payload: Buffer }> {
    this.#verifyOpen();
    return this.#read(expected, await raceWithSignal(this.#ask(request, payload), this.#signal));
  }

  /** Sends the commit. It cannot be cancelled: only the response tells what was done. */
  async commit(payload?: Uint8Array): Promise<Reply<"done">> {
    this.#verifyOpen();
    this.#isCommitting = true;
    const answer = await this.#ask({ type: "commit" }, payload);
    return this.#read("done", answer).reply;
  }

  /** Sends a chunk of the content to write. Resolves when there is room for more. */
  async send(piece: Uint8Array): Promise<void> {
    this.#verifyOpen();
    await raceWithSignal(this.#borrowed.worker.tell(this.#id, { type: "content" }, piece), this.#signal);
  }

  /** Ends a worker that sent an invalid response. */
  protocolViolation(): KernelError {
    const fault = new KernelError("SANDBOX_ERROR", "the file worker said something that makes no sense");
    this.#borrowed.worker.fail(fault);
    this.close();
    return fault;
  }

  /** The worker holds nothing open any more, so nothing has to be abandoned. */
  finish(): void {
    this.#isClosed = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#releaseIfDone();
  }

  /** Abandons the operation. Waits for outstanding responses of the worker, for a limited time. */
  close(): void {
    if (this.#unanswered > 0 && this.#hangTimer === undefined) {
      const fault = new KernelError("SANDBOX_ERROR", "the file worker does not answer");
      const patienceMs = this.#isCommitting ? COMMIT_PATIENCE_MS : PATIENCE_MS;
      this.#hangTimer = setTimeout(() => this.#borrowed.worker.fail(fault), patienceMs);
      this.#hangTimer.unref();
    }
    if (this.#isClosed || (this.#isCommitting && this.#unanswered > 0)) return;
    this.#isClosed = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#borrowed.worker.tell(this.#id, { type: "abandon" }).catch(() => undefined);
    this.#releaseIfDone();
  }

  async #ask(request: WorkerRequest, payload?: Uint8Array): Promise<WorkerResponse> {
    this.#unanswered++;
    try {
      return await this.#borrowed.worker.ask(this.#id, request, payload);
    } finally {
      this.#unanswered--;
      this.#releaseIfDone();
    }
  }

  #releaseIfDone(): void {
    if (this.#unanswered > 0) return;
    clearTimeout(this.#hangTimer);
    if (this.#isClosed) this.#borrowed.release();
  }

  #read<Type extends WorkerReply["type"]>(
    expected: Type,
    { reply, payload }: WorkerResponse,
  ): { reply: Reply<Type>; payload: Buffer } {
    if (reply.type === "failed") {
      this.close();
      throw explainFault(this.operation, reply);
    }
    if (reply.type !== expected) throw this.protocolViolation();
    return { reply: reply as Reply<Type>, payload };
  }

  #verifyOpen(): void {
    verifyNotAborted(this.#signal);
    if (this.#isClosed) throw new KernelError("INTERNAL", "the file operation is over already");
  }
}
