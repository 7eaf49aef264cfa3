import { KernelError } from "@narthex/contracts";
import type { FileOperation } from "@narthex/kernel";
import { explainFault } from "./explain-fault.ts";
import type { WorkerResponse } from "./file-worker.ts";
import { type BorrowedWorker, raceWithSignal, verifyNotAborted } from "./worker-pool.ts";
import type { WorkerReply, WorkerRequest } from "./worker/messages.ts";

/** How long a worker may take for what nobody waits for any more, before it is held to hang. */
const PATIENCE_MS = 5000;
/** A change is seen through if it can be: a slow disk takes its time. */
const COMMIT_PATIENCE_MS = 30_000;

type Reply<Type extends WorkerReply["type"]> = WorkerReply & { readonly type: Type };

/** One operation's conversation with its worker. */
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

  /** Whether the change was asked for: from then on only the worker's answer tells whether it was made. */
  get isCommitting(): boolean {
    return this.#isCommitting;
  }

  /** Throws what the worker says is wrong, and CANCELLED as soon as the signal says so. */
  async ask<Type extends WorkerReply["type"]>(
    expected: Type,
    request: WorkerRequest,
    payload?: Uint8Array,
  ): Promise<{ reply: Reply<Type>; payload: Buffer }> {
    this.#verifyOpen();
    return this.#read(expected, await raceWithSignal(this.#ask(request, payload), this.#signal));
  }

  /** Asks for the change to be made. From here on there is no way back: only the answer tells what was done. */
  async commit(payload?: Uint8Array): Promise<Reply<"done">> {
    this.#verifyOpen();
    this.#isCommitting = true;
    const answer = await this.#ask({ type: "commit" }, payload);
    return this.#read("done", answer).reply;
  }

  /** A piece of what is to be written. Resolves when there is room for more. */
  async send(piece: Uint8Array): Promise<void> {
    this.#verifyOpen();
    await raceWithSignal(this.#borrowed.worker.tell(this.#id, { type: "content" }, piece), this.#signal);
  }

  /** Ends the worker: what it said cannot be. */
  protocolViolation(): KernelError {
    const fault = new KernelError("SANDBOX_ERROR", "the file worker said something that makes no sense");
    this.#borrowed.worker.fail(fault);
    this.close();
    return fault;
  }

  /** The worker holds nothing any more: there is nothing to let go of. */
  finish(): void {
    this.#isClosed = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#releaseIfDone();
  }

  /** Lets go. Whatever the worker still has to answer is waited for, but not for ever. */
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
