import { once } from "node:events";
import { isKernelError, KernelError } from "@narthex/contracts";
import type { SandboxedProcess } from "../sandbox/spawn-sandbox.ts";
import { parseReply } from "./parse-reply.ts";
import { encodeMessage, MessageReader, REPLY_BOUNDS } from "./worker/worker-message.ts";
import type { WorkerReply, WorkerRequest } from "./worker/messages.ts";

export interface WorkerResponse {
  readonly reply: WorkerReply;
  readonly payload: Buffer;
}

interface Waiter {
  resolve(answer: WorkerResponse): void;
  reject(fault: unknown): void;
}

const MAX_ID = 0xffff_ffff;

/**
 * One worker and its open requests. Requests with the same number are answered in order. A worker that violates the
 * protocol is ended.
 */
export class FileWorker {
  /** Resolves when all processes of the worker have ended. */
  readonly ended: Promise<void>;
  readonly #process: SandboxedProcess;
  readonly #frames = new MessageReader(REPLY_BOUNDS);
  readonly #waiters = new Map<number, Waiter[]>();
  #fault: KernelError | undefined;
  #nextId = 1;
  #draining: Promise<void> | undefined;

  constructor(process: SandboxedProcess) {
    this.#process = process;
    process.stderr.resume();
    process.stdout.on("data", (piece: Buffer) => this.#receive(piece));
    process.stdout.on("error", (fault) => this.fail(fault));
    process.stdin.on("error", (fault) => this.fail(fault));
    process.pid.catch(() => undefined);
    this.ended = process.ended.then(
      ({ exitCode }) => this.fail(new KernelError("SANDBOX_ERROR", `the file worker ended with ${exitCode}`)),
      (fault: unknown) => this.fail(fault),
    );
  }

  get isAlive(): boolean {
    return this.#fault === undefined;
  }

  get pid(): Promise<number> {
    return this.#process.pid;
  }

  /** Returns a unique number for the messages of one operation. */
  createId(): number {
    this.#nextId = this.#nextId === MAX_ID ? 1 : this.#nextId + 1;
    return this.#nextId;
  }

  async ask(id: number, request: WorkerRequest, payload?: Uint8Array): Promise<WorkerResponse> {
    this.#verifyAlive();
    // Limits the buffered requests when many large ones are sent.
    while (this.#process.stdin.writableNeedDrain) await this.#untilRoom();
    const { promise, resolve, reject } = Promise.withResolvers<WorkerResponse>();
    const waiters = this.#waiters.get(id);
    if (waiters === undefined) this.#waiters.set(id, [{ resolve, reject }]);
    else waiters.push({ resolve, reject });
    this.#write(id, request, payload);
    return await promise;
  }

  /** Sends a message that has no response. Resolves when there is room for more. */
  async tell(id: number, request: WorkerRequest, payload?: Uint8Array): Promise<void> {
    this.#verifyAlive();
    this.#write(id, request, payload);
    if (this.#process.stdin.writableNeedDrain) await this.#untilRoom();
  }

  /** Ends the worker; open requests fail with the first error. */
  fail(fault: unknown): void {
    if (this.#fault !== undefined) return;
    this.#fault = isKernelError(fault)
      ? fault
      : new KernelError("SANDBOX_ERROR", "the file worker failed", { cause: fault });
    this.#process.kill();
    const waiters = [...this.#waiters.values()].flat();
    this.#waiters.clear();
    for (const waiter of waiters) waiter.reject(this.#fault);
  }

  async #untilRoom(): Promise<void> {
    this.#draining ??= this.#untilDrained();
    await this.#draining;
    this.#verifyAlive();
  }

  #verifyAlive(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Resolves when the buffer has room, or never will have because the worker has ended. */
  async #untilDrained(): Promise<void> {
    try {
      await Promise.race([once(this.#process.stdin, "drain"), this.ended]);
    } catch (fault) {
      this.fail(fault);
    } finally {
      this.#draining = undefined;
    }
  }

  #write(id: number, request: WorkerRequest, payload?: Uint8Array): void {
    for (const piece of encodeMessage(id, request, payload)) this.#process.stdin.write(piece);
  }

  #receive(piece: Buffer): void {
    if (this.#fault !== undefined) return;
    try {
      for (const { id, header, payload } of this.#frames.push(piece)) this.#answer(id, parseReply(header), payload);
    } catch (cause) {
      this.fail(new KernelError("SANDBOX_ERROR", "the file worker said something that makes no sense", { cause }));
    }
  }

  #answer(id: number, reply: WorkerReply, payload: Buffer): void {
    const waiters = this.#waiters.get(id);
    const waiter = waiters?.shift();
    if (waiters === undefined || waiter === undefined) throw new TypeError("nobody asked");
    if (waiters.length === 0) this.#waiters.delete(id);
    waiter.resolve({ reply, payload });
  }
}
