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
 * One worker, and the questions it has not answered yet. Questions with the same number are answered in the order in
 * which they were asked. A worker that says anything else than that is ended.
 */
export class FileWorker {
  /** Resolves when nothing of it runs any more. */
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

  /** A number for a conversation, used by no other. */
  createId(): number {
    this.#nextId = this.#nextId === MAX_ID ? 1 : this.#nextId + 1;
    return this.#nextId;
  }

  async ask(id: number, request: WorkerRequest, payload?: Uint8Array): Promise<WorkerResponse> {
    this.#verifyAlive();
    // So that what waits to be sent stays little, however many ask for much.
    while (this.#process.stdin.writableNeedDrain) await this.#untilRoom();
    const { promise, resolve, reject } = Promise.withResolvers<WorkerResponse>();
    const waiters = this.#waiters.get(id);
    if (waiters === undefined) this.#waiters.set(id, [{ resolve, reject }]);
    else waiters.push({ resolve, reject });
    this.#write(id, request, payload);
    return await promise;
  }

  /** Says something that is not answered. Resolves when there is room for more. */
  async tell(id: number, request: WorkerRequest, payload?: Uint8Array): Promise<void> {
    this.#verifyAlive();
    this.#write(id, request, payload);
    if (this.#process.stdin.writableNeedDrain) await this.#untilRoom();
  }

  /** Ends it; what was asked fails with the first fault. */
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

  /** Or until it is certain that there will be no more room. */
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
